"""Runs random programs until some number is through, and keeps what differs.

python -m tests.fuzz 10000 [--first SEED] [--peer] [--alone]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

# Verified as in all tests; decided when the passes are imported.
os.environ.setdefault("TENSORLOOM_VERIFY_PASSES", "1")

from tests.fuzz.agreement import Differences, beside, between, shrunk
from tests.fuzz.modes import (
    ALL_PASSES,
    ALONE,
    DEVICES,
    INTERPRETED,
    INTERPRETED_DEVICES,
    MODES,
    NO_PASSES,
    RECOMPUTED,
)
from tests.fuzz.programs import Statement, random_program, render
from tests.peer.peers import Peer

FOUND = Path(__file__).parent / "found"
Source = Callable[[Sequence[Statement]], str]

_MOST_PROGRAMS = 1000  # of one process of TensorFlow


def main() -> int:
    """Returns the number of programs that differ, at most 100."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("count", type=int, help="how many programs")
    parser.add_argument("--first", type=int, default=1_000_000, help="the first seed")
    parser.add_argument("--peer", action="store_true", help="beside TensorFlow 1.15")
    parser.add_argument("--alone", action="store_true", help="each pass alone, for all")
    options = parser.parse_args()
    skipped: Counter[str] = Counter()
    source = partial(render, shares_memory=options.peer)
    differences = _checks(options, source, lambda why: skipped.update([why]))
    bad, begin = 0, time.monotonic()
    for number in range(options.count):
        seed = options.first + number
        bad += _differs(seed, source, differences(number))
        if number % 100 == 99:
            rate = (number + 1) / (time.monotonic() - begin)
            told = f"{number + 1} programs, {bad} differ, {rate:.1f} a second"
            print(told, dict(skipped) or "", flush=True)
    return min(bad, 100)


def _checks(
    options: argparse.Namespace, source: Source, skipped: Callable[[str], None]
) -> Callable[[int], Differences]:
    """How the program of some number is looked at."""
    if options.peer:
        peer = _Restarted("1.15")
        check = beside(peer.execute, skipped)

        def beside_peer(number: int) -> Differences:
            if number + 1 < options.count:
                program = random_program(options.first + number + 1)
                peer.begin(NO_PASSES.head + source(program))
            return check

        return beside_peer
    if options.alone:
        return lambda number: between(MODES)
    plain = (INTERPRETED, INTERPRETED_DEVICES)
    others = [*ALONE, RECOMPUTED]
    return lambda number: between(
        [ALL_PASSES, DEVICES, plain[number % 2], others[number % len(others)]]
    )


class _Restarted:
    """Real TensorFlow, which runs the next program while we run this one.

    It is started again after a program at which it aborts, and at times, since it keeps
    a megabyte of each program.
    """

    def __init__(self, version: str) -> None:
        self._version = version
        self._peer = Peer(version)
        self._count = 0
        self._thread = ThreadPoolExecutor(1)
        self._begun: dict[str, Future[dict[str, Any]]] = {}

    def begin(self, source: str) -> None:
        """Starts a program whose result will be asked for."""
        self._begun[source] = self._thread.submit(self._execute, source)

    def execute(self, source: str) -> dict[str, Any]:
        """What the program does there; the end of its process counts as an error."""
        begun = self._begun.pop(source, None)
        if begun is None:
            begun = self._thread.submit(self._execute, source)
        return begun.result()

    def _execute(self, source: str) -> dict[str, Any]:
        self._count += 1
        if self._count % _MOST_PROGRAMS == 0:
            self._restart()
        try:
            return self._peer.execute(source, ops=False)
        except RuntimeError as error:
            self._restart()
            return {"error": ("Aborted", str(error)), "result": None}

    def _restart(self) -> None:
        self._peer.close()
        self._peer = Peer(self._version)


def _differs(seed: int, source: Source, differences: Differences) -> bool:
    """Looks at a program; tells of one that differs, and keeps what it is shrunk to."""
    program = random_program(seed)
    if not differences(source(program)):
        return False
    small, lines = shrunk(program, source, differences)
    print(f"--- seed {seed}\n{small}", *lines[:5], sep="\n", flush=True)
    (FOUND / f"{seed}.txt").write_text(small)
    return True


if __name__ == "__main__":
    sys.exit(main())
