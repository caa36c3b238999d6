"""The comparison itself: these tests need no TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from tests.peer import runner
from tests.peer.peers import Peer, Tolerance, compare_program, value_differences
from tests.peer.programs import all_programs, read_programs

TOLERANCE = Tolerance()


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0, dtype=np.float32).reshape(2, 3),
        np.float32(2.5),
        np.array([b"a", "b"], object),
        [1, (2.5, None), {"k": True, 3: b"x"}],
        float("nan"),
    ],
)
def test_equal_values_have_no_differences(value: Any) -> None:
    described = runner.plain(value)
    again = runner.plain(value)
    assert value_differences(described, again, TOLERANCE) == []


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.zeros(2), np.array([0.0, 0.1])),
        (np.array([1]), np.array([2])),
        ([1, 2], (1, 2)),
        ([1], [1, 2]),
        (1, True),
        (1.0, 1.1),
        ("a", b"a"),
        (None, 0),
        ({"a": 1}, {"b": 1}),
        (np.array([b"a"], object), np.array([b"b"], object)),
    ],
)
def test_differences_are_found(ours: Any, theirs: Any) -> None:
    lines = value_differences(runner.plain(ours), runner.plain(theirs), TOLERANCE)
    assert len(lines) == 1
    assert lines[0].startswith("result")


def test_programs_have_names_of_their_own() -> None:
    names = [program.name for program in all_programs()]
    assert len(names) > 60
    assert len(set(names)) == len(names)


def test_directives_of_a_program(tmp_path: Path) -> None:
    path = tmp_path / "family" / "file.py"
    path.parent.mkdir()
    path.write_text(
        "# program: one\nresult = 1\n\n"
        "# program: two\n# compare: error values\n# not in 2.21: values\nresult = 2\n",
        encoding="utf-8",
    )
    one, two = read_programs(path)
    assert (one.name, one.aspects_in("1.15")) == (
        "family/file: one",
        ("error", "ops", "attrs", "values"),
    )
    assert two.aspects_in("1.15") == ("error", "values")
    assert two.aspects_in("2.21") == ("error",)


class _Answers:
    """A peer whose runs of a program end as told, one after the other."""

    def __init__(self, *results: Any) -> None:
        self._results = list(results)

    def execute(self, source: str, *, again: bool = False) -> dict[str, Any]:
        result = runner.plain(self._results.pop(0))
        return {"error": None, "ops": [], "result": result}


@pytest.mark.parametrize(
    ("theirs", "is_equal"),
    [((3,), True), ((2, 3), True), ((2, 2, 1, 3), True), ((2,) * 5, False)],
)
def test_a_race_in_tensorflow_is_no_difference(
    theirs: tuple[int, ...], is_equal: bool
) -> None:
    """A result that differs is asked for again: four times, then it differs."""
    peer = cast("Peer", _Answers(*theirs))
    assert (not compare_program("result = 3", peer, ("error", "values"))) == is_equal
