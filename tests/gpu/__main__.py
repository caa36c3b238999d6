"""Checks a GPU: python -m tests.gpu [--pretended] [--only PART,...] [--quick].

Exits with 0 if all is well, 1 if something is wrong, 2 if there is no GPU to check.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

os.environ.setdefault("TENSORLOOM_VERIFY_PASSES", "1")

from tests.gpu.target import cuda_or_reason, exact_products

if TYPE_CHECKING:
    from tests.gpu.target import Target

PARTS = ("kernels", "transfers", "memory", "steps", "rows")


def main(arguments: list[str]) -> int:
    """Runs the parts that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.gpu", description=__doc__)
    parser.add_argument(
        "--pretended", action="store_true", help="GPUs of plain memory: tries the check"
    )
    parser.add_argument("--only", default=",".join(PARTS), help="parts, by commas")
    parser.add_argument("--quick", action="store_true", help="one case of each op")
    options = parser.parse_args(arguments)
    parts = options.only.split(",")
    if not set(parts) <= set(PARTS):
        parser.error(f"the parts are {', '.join(PARTS)}")
    with contextlib.ExitStack() as stack:
        if options.pretended:
            from tests.gpu import pretended

            stack.enter_context(pretended.pretended_gpus())
            target: Target | str = pretended.TARGET
        else:
            target = cuda_or_reason()
        if isinstance(target, str):
            print(target, file=sys.stderr)
            return 2
        wrong = sum(_run(part, target, options.quick) for part in parts)
    print(f"{wrong} things are wrong" if wrong else "all is well")
    return 1 if wrong else 0


def _run(part: str, target: Target, is_quick: bool) -> int:
    """Runs a part, tells what is wrong, and returns how much."""
    print(f"--- {part}", flush=True)
    if part == "rows":
        from tests.gpu import rows

        if not target.is_real:
            for line in rows.rows(target, 0.0, 1 << 20):
                print(line, flush=True)
            return 0
        for line in rows.rows(target):
            print(line, flush=True)
        return 0
    if target.is_real:
        exact_products()
    found = _kernels(is_quick) if part == "kernels" else _check(part, target)
    count = 0
    for line in found:
        count += 1
        print(line, flush=True)
    return count


def _check(part: str, target: Target) -> list[str]:
    from tests.gpu import memory, steps, transfers

    modules = {"transfers": transfers, "memory": memory, "steps": steps}
    return modules[part].check(target)


def _kernels(is_quick: bool) -> Iterator[str]:
    from tests.gpu import kernels

    made: set[str] = set()
    cases = 0
    for path in kernels.families():
        if is_quick:
            result = kernels.compare_family(path, kernels.one_of_each_op)
        else:
            result = kernels.compare_family(path)
        cases += result.cases
        made |= result.made
        yield from result.differences
    claimed = kernels.claims()
    result = kernels.compare_drawn(claimed - made)
    cases += result.cases
    made |= result.made
    yield from result.differences
    print(f"{cases} cases; kernels of {len(claimed & made)} ops of {len(claimed)}")
    # Those of ops that passes make are in the steps.
    print(f"in no case: {', '.join(sorted(claimed - made))}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
