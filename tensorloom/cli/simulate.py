"""`tensorloom simulate`: programs on a simulated cluster, under random faults."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from tensorloom.cli.command import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tensorloom.simulate.faults import Fault
    from tensorloom.simulate.training import Outcome


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--faults",
        type=int,
        default=100,
        metavar="N",
        help="how many schedules of faults to run (default: 100)",
    )
    parser.add_argument(
        "--first",
        type=int,
        default=0,
        metavar="SEED",
        help="the seed of the first one; the next ones follow (default: 0)",
    )
    parser.add_argument(
        "--program",
        choices=("training", "collectives", "elastic"),
        default="training",
        help="what runs there: a training with parameter servers, tasks that reduce "
        "values with each other, or a training whose tasks join and leave "
        "(default: training)",
    )
    parser.add_argument(
        "--show", action="store_true", help="show the faults of each, and what was done"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a run")


def _execute(options: argparse.Namespace) -> int:
    import tensorloom as tf

    verbosity = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.FATAL)  # what fails here is meant to
    try:
        seeds = range(options.first, options.first + options.faults)
        failed = sum(not _run(seed, options) for seed in seeds)
    finally:
        tf.logging.set_verbosity(verbosity)
    print(
        f"{options.faults} schedules of faults from seed {options.first}: "
        f"{failed} broke a promise",
        file=sys.stderr,
    )
    return 1 if failed else 0


def _run(seed: int, options: argparse.Namespace) -> bool:
    """Runs one schedule and says how it went; whether all was kept."""
    run_seed = _program(options.program)
    outcome = run_seed(seed)
    if options.json:
        faults = [str(fault) for fault in outcome.faults]
        facts = {"seed": seed, "broken": outcome.broken, **outcome.facts}
        print(json.dumps({**facts, "schedule": faults}), flush=True)
    elif options.show:
        print(outcome, "\n ", outcome.facts, flush=True)
    elif outcome.broken:
        print(outcome, flush=True)
    if outcome.broken and not options.json:
        _say_what_it_needs(options.program, seed, outcome.faults)
    return not outcome.broken


def _program(name: str) -> Callable[..., Outcome]:
    from tensorloom.simulate import collectives, elastic_training, training

    programs = {
        "training": training.run_seed,
        "collectives": collectives.run_seed,
        "elastic": elastic_training.run_seed,
    }
    return programs[name]


def _say_what_it_needs(program: str, seed: int, faults: Sequence[Fault]) -> None:
    """Leaves out what a run fails without, and says how to run it again."""
    from tensorloom.simulate.faults import shrunk

    run_seed = _program(program)
    needed = shrunk(faults, lambda some: bool(run_seed(seed, some).broken))
    if needed:
        print("It needs no more faults than these:")
        for fault in needed:
            print(f"  {fault}")
    else:
        print("It fails without any fault.")
    again = f"--program {program} --first {seed} --faults 1 --show"
    print(f"Again: tensorloom simulate {again}", flush=True)


COMMAND = Command(
    "simulate",
    "run programs on a simulated cluster, under random faults",
    _add_arguments,
    _execute,
)
