"""Runs random programs until some number is through, and keeps what differs.

python -m tests.fuzz 10000 [--first SEED] [--peer] [--alone]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

# Verified as in all tests; decided when the passes are imported.
os.environ.setdefault("TENSORLOOM_VERIFY_PASSES", "1")

from tests.fuzz.agreement import Differences, beside, between, shrunk
from tests.fuzz.modes import ALL_PASSES, ALONE, DEVICES, INTERPRETED, MODES
from tests.fuzz.programs import random_program, render
from tests.peer.peers import Peer

FOUND = Path(__file__).parent / "found.json"


def main() -> int:
    """Returns the number of programs that differ, at most 100."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("count", type=int, help="how many programs")
    parser.add_argument("--first", type=int, default=1_000_000, help="the first seed")
    parser.add_argument("--peer", action="store_true", help="beside TensorFlow 1.15")
    parser.add_argument("--alone", action="store_true", help="each pass alone, for all")
    options = parser.parse_args()
    skipped: Counter[str] = Counter()
    differences = _checks(options, lambda why: skipped.update([why]))
    bad, begin = 0, time.monotonic()
    for number in range(options.count):
        seed = options.first + number
        bad += _differs(seed, differences(number))
        if number % 100 == 99:
            rate = (number + 1) / (time.monotonic() - begin)
            told = f"{number + 1} programs, {bad} differ, {rate:.1f} a second"
            print(told, dict(skipped) or "", flush=True)
    return min(bad, 100)


def _checks(
    options: argparse.Namespace, skipped: Callable[[str], None]
) -> Callable[[int], Differences]:
    """How the program of some number is looked at."""
    if options.peer:
        peer = Peer("1.15")
        check = beside(peer.execute, skipped)
        return lambda number: check
    if options.alone:
        return lambda number: between(MODES)
    return lambda number: between(
        [ALL_PASSES, DEVICES, INTERPRETED, ALONE[number % len(ALONE)]]
    )


def _differs(seed: int, differences: Differences) -> bool:
    """Looks at a program; tells of one that differs, and keeps what it is shrunk to."""
    program = random_program(seed)
    if not differences(program):
        return False
    small, lines = shrunk(program, differences)
    print(f"--- seed {seed}\n{render(small)}", *lines[:5], sep="\n", flush=True)
    kept = json.loads(FOUND.read_text())
    text = ",\n".join(json.dumps(one) for one in [*kept, small])
    FOUND.write_text(f"[\n{text}\n]\n")
    return True


if __name__ == "__main__":
    sys.exit(main())
