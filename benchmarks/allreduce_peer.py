"""Another process of a row of `workloads/allreduce.py`: sums until it is killed."""

import sys

from benchmarks.workloads import allreduce


def main() -> None:
    """Runs the step of the kind that the command line names, again and again.

    "timed" is one of two that train, and prints the least time of forty steps.
    """
    if sys.argv[1] == "plain":
        steps = allreduce.plain_summed()
    else:
        import tensorloom as tf

        kind = "trained" if sys.argv[1] == "timed" else sys.argv[1]
        steps = allreduce.KINDS[kind](tf)
    step = next(steps)
    if sys.argv[1] == "timed":
        print(min(allreduce.seconds_of(step) for _ in range(40)))
        return
    while True:
        step()


main()
