"""Ranges of one operation's work on several threads."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tensorloom.framework.runtime import intra_op, threads


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intra_op, "_count", lambda: 2)


@pytest.mark.parametrize(
    ("size", "least", "parts"),
    [
        (0, 10, 1),
        (9, 10, 1),
        (19, 10, 1),  # two ranges would be too small
        (20, 10, 2),
        (47, 10, 4),
        (1000, 10, 8),
    ],
)
@pytest.mark.usefixtures("two_threads")
def test_ranges_are_all_of_the_work(size: int, least: int, parts: int) -> None:
    seen: list[tuple[int, int]] = []
    intra_op.in_ranges(lambda *bounds: seen.append(bounds), size, least)
    assert len(seen) == parts
    ends = [0]
    for begin, end in sorted(seen):
        assert begin == ends[-1]
        ends.append(end)
    assert ends[-1] == size


def test_one_thread_takes_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intra_op, "_count", lambda: 1)
    seen: list[tuple[int, int]] = []
    intra_op.in_ranges(lambda *bounds: seen.append(bounds), 1000, 10)
    assert seen == [(0, 1000)]


@pytest.mark.usefixtures("two_threads")
def test_two_threads_work_at_one_time() -> None:
    meeting = threading.Barrier(2, timeout=60)
    intra_op.in_ranges(lambda begin, end: meeting.wait() and None, 20, 10)
    assert not meeting.broken


@pytest.mark.usefixtures("two_threads")
def test_a_thread_that_never_comes_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "start", lambda task: None)
    seen: list[int] = []
    intra_op.in_ranges(lambda begin, end: seen.extend(range(begin, end)), 100, 10)
    assert seen == list(range(100))


@pytest.mark.usefixtures("two_threads")
def test_no_thread_is_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(task: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start", start)
    seen: list[int] = []
    intra_op.in_ranges(lambda begin, end: seen.extend(range(begin, end)), 100, 10)
    assert seen == list(range(100))


@pytest.mark.usefixtures("two_threads")
def test_an_error_comes_when_no_range_runs_any_more() -> None:
    ended: list[int] = []

    def work(begin: int, end: int) -> None:
        if begin == 0:
            raise ValueError("the first range")
        ended.append(begin)

    with pytest.raises(ValueError, match="the first range"):
        intra_op.in_ranges(work, 80, 10)
    assert len(ended) == 7


@pytest.mark.parametrize(
    ("limit", "chosen", "expected"), [(3, "5", 3), (0, "5", 5), (0, "5,2", None)]
)
def test_number_of_threads_before_torch(
    monkeypatch: pytest.MonkeyPatch, limit: int, chosen: str, expected: int | None
) -> None:
    monkeypatch.setattr(intra_op, "_count", None)
    monkeypatch.setattr(intra_op, "_limit", limit)
    monkeypatch.setenv("OMP_NUM_THREADS", chosen)
    if expected is None:
        assert intra_op.count() >= 1
    else:
        assert intra_op.count() == expected
