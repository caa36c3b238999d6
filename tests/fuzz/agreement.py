"""Whether a random program has one result, however it is run; shrinks what has not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorloom as tf
from tests.fuzz.modes import ALL_PASSES, NO_PASSES, Mode
from tests.fuzz.programs import Statement, smaller
from tests.peer import runner
from tests.peer.peers import Tolerance, value_differences

#: Passes may add in another order.
TOLERANCE = Tolerance(1e-4, 1e-4)
_MOST_TRIES = 400

#: What differs in a program, by its source.
Differences = Callable[[str], list[str]]


def run(source: str, mode: Mode) -> dict[str, Any]:
    """What `runner.execute` says of a program in a mode."""
    with mode.context():
        return runner.execute(tf, mode.head + source, ops=False)


def compare(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """One line for each difference between two outcomes of a program."""
    if expected["error"] or found["error"]:
        first, second = (o["error"] and o["error"][0] for o in (expected, found))
        if first == second:
            return []
        told = (expected["error"] or found["error"])[1]
        return [f"error: expected {first}, found {second}: {told[:1000]}"]
    return value_differences(found["result"], expected["result"], TOLERANCE)


def between(modes: Sequence[Mode]) -> Differences:
    """What differs between no passes at all, and some modes."""

    def differences(source: str) -> list[str]:
        plain = run(source, NO_PASSES)
        lines = []
        for mode in modes:
            lines += [f"{mode.name}: {d}" for d in compare(plain, run(source, mode))]
        return lines

    return differences


def beside(
    execute: Callable[[str], dict[str, Any]], skipped: Callable[[str], None]
) -> Differences:
    """What differs between TensorFlow and all passes.

    Args:
      execute: runs a program in TensorFlow.
      skipped: hears why a program is not compared: where TensorFlow fails, or where
        only its own graph rewrites give our result.
    """

    def differences(source: str) -> list[str]:
        # Without its rewrites: quicker, and what its graphs mean.
        theirs = execute(NO_PASSES.head + source)
        if theirs["error"]:
            skipped(f"TensorFlow fails: {theirs['error'][0]}")
            return []
        ours = run(source, ALL_PASSES)
        lines = compare(theirs, ours)
        if lines:
            rewritten = execute(ALL_PASSES.head + source)
            if not rewritten["error"] and not compare(rewritten, ours):
                skipped("TensorFlow's rewrites change its result")
                return []
        return lines

    return differences


def shrunk(
    statements: Sequence[Statement],
    render: Callable[[Sequence[Statement]], str],
    differences: Differences,
) -> tuple[str, list[str]]:
    """The smallest program found that differs in the same way, and its differences."""
    best = list(statements)
    lines = differences(render(best))
    kind = _kind(lines)
    tries, goes_on = 0, True
    while goes_on and tries < _MOST_TRIES:
        goes_on = False
        for candidate in smaller(best):
            tries += 1
            found = differences(render(candidate))
            if found and _kind(found) == kind:
                best, lines, goes_on = candidate, found, True
                break
            if tries >= _MOST_TRIES:
                break
    return render(best), lines


def _kind(lines: Sequence[str]) -> bool:
    return bool(lines) and "error:" in lines[0]
