"""Another process of a row of `workloads/allreduce.py`: sums until it is killed."""

import sys

from benchmarks.workloads import allreduce


def main() -> None:
    """Runs the step of the kind that the command line names, again and again."""
    if sys.argv[1] == "plain":
        steps = allreduce.plain_summed()
    else:
        import tensorloom as tf

        steps = allreduce.KINDS[sys.argv[1]](tf)
    step = next(steps)
    while True:
        step()


main()
