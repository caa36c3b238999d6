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
    from tensorloom.cli.local_tasks import LocalTasks, Task
    from tensorloom.transport.collectives.place import STORE
    from tensorloom.transport.collectives.store import LocalStore

    if options.num_proc < 1:
        print("tensorloom hvdrun: there must be a process", file=sys.stderr)
        return 2
    if not os.path.isfile(options.script):
        print(f"tensorloom hvdrun: no file {options.script!r}", file=sys.stderr)
        return 2
    store = LocalStore()
    shared = {STORE: store.address, "PYTHONUNBUFFERED": "1"}
    if options.fusion_threshold_mb is not None:
        threshold = int(options.fusion_threshold_mb * (1 << 20))
        shared["HOROVOD_FUSION_THRESHOLD"] = str(threshold)
    size = str(options.num_proc)
    tasks = [
        Task(
            f"rank {rank}",
            [
                *(sys.executable, "-m", "tensorloom", "run"),
                *(options.script, *options.arguments),
            ],
            {
                **shared,
                "HOROVOD_RANK": str(rank),
                "HOROVOD_SIZE": size,
                "HOROVOD_LOCAL_RANK": str(rank),
                "HOROVOD_LOCAL_SIZE": size,
            },
            "",
            is_server=False,
        )
        for rank in range(options.num_proc)
    ]
    return LocalTasks(tasks, options.grace).run()


COMMAND = Command(
    "hvdrun",
    "run a program in several processes that average their gradients (Horovod's way)",
    _add_arguments,
    _execute,
)
