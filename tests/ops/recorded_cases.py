"""Cases that were run in TensorFlow: the file of their results, and how to compare.

For each case a line "== name"; then for each value "= dtype shape: numbers" (up to
200 of them), or one line "! error class".
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_LIMIT = 200


def flat(values: Any) -> list[Any]:
    """The values of nested lists and tuples."""
    if isinstance(values, (list, tuple)):
        return [leaf for value in values for leaf in flat(value)]
    return [values]


def observe(tf: Any, build: Callable[[Any], Any]) -> list[str]:
    """The lines for one case, run with the module `tf`."""
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            values = flat(session.run(build(tf)))
        except Exception as error:
            return [f"! {type(error).__name__}"]
    return [_line(np.asarray(value)) for value in values]


def _line(value: Any) -> str:
    shape = " ".join(map(str, value.shape))
    numbers = " ".join(f"{x:.9g}" for x in value.reshape(-1)[:_LIMIT].tolist())
    return f"= {value.dtype} {shape}: {numbers}"


def read(path: Path) -> dict[str, list[str]]:
    """The recorded lines of each case."""
    cases: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            lines = cases[line[3:]] = []
        else:
            lines.append(line)
    return cases


def differences(
    got: list[str], expected: list[str], rtol: float, atol: float
) -> list[str]:
    """What differs, as text; nothing when all is equal."""
    if len(got) != len(expected):
        return [f"{len(got)} results, not {len(expected)}: {got[:1]}, {expected[:1]}"]
    problems = []
    for i, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
        if ours == theirs:
            continue
        head, _, numbers = ours.partition(":")
        wanted_head, _, wanted = theirs.partition(":")
        if head != wanted_head:
            problems.append(f"result {i}: {head}, not {wanted_head}")
            continue
        a, b = (np.array([float(x) for x in n.split()]) for n in (numbers, wanted))
        same = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        if not same.all():
            where = int(np.flatnonzero(~same)[0])
            problems.append(
                f"result {i}: {(~same).sum()} of {len(a)} differ, at {where} "
                f"{a[where]}, not {b[where]}"
            )
    return problems
