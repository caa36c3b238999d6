"""`tensorloom hvdrun -np N SCRIPT`: several processes run one program together.

The program calls `hvd.init()` (`tensorloom.hvd`), by which the processes find each
other at a store that this command keeps.
"""

from __future__ import annotations

import argparse
import os
import sys

from tensorloom.cli.command import Command


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-np",
        "--num-proc",
        type=int,
        required=True,
        metavar="N",
        help="how many processes",
    )
    parser.add_argument(
        "--fusion-threshold-mb",
        type=float,
        metavar="MB",
        help="gradients of so many bytes travel together (default: 64)",
    )
    parser.add_argument(
        "--grace",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="how long a process may take to end before it is killed (default: 5)",
    )
    parser.add_argument("script", help="a Python program")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="the program's own arguments"
    )


def _execute(options: argparse.Namespace) -> int:
    from tensorloom.cluster.launch.local import LocalPlaces
    from tensorloom.cluster.launch.ranks import RankJob
    from tensorloom.cluster.launch.supervisor import Supervisor
    from tensorloom.transport.collectives.place import STORE
    from tensorloom.transport.collectives.store import LocalStore

    if options.num_proc < 1:
        print("tensorloom hvdrun: there must be a process", file=sys.stderr)
        return 2
    if not os.path.isfile(options.script):
        print(f"tensorloom hvdrun: no file {options.script!r}", file=sys.stderr)
        return 2
    store = LocalStore()
    shared = {STORE: store.address}
    if options.fusion_threshold_mb is not None:
        threshold = int(options.fusion_threshold_mb * (1 << 20))
        shared["HOROVOD_FUSION_THRESHOLD"] = str(threshold)
    job = RankJob(
        options.script,
        options.arguments,
        {"rank": options.num_proc},
        environment=shared,
        grace_s=options.grace,
    )
    return Supervisor(job, LocalPlaces()).run()


COMMAND = Command(
    "hvdrun",
    "run a program in several processes that average their gradients (Horovod's way)",
    _add_arguments,
    _execute,
)
