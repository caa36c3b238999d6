"""Runs of a worker: what their answers have, and who may ask again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tensorloom.data.service.pipelines import ALL, Share
from tensorloom.data.service.runs import Part, Run, Section
from tensorloom.data.service.state import TO_THE_END
from tensorloom.framework import errors


class Counting:
    """A pipeline whose elements are numbers; some begin in vain, or fail."""

    def __init__(self) -> None:
        self._numbers: Iterator[int] = iter(())
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.is_closed = False

    def begin(self, begin: int, end: int, seed: int, share: Share = ALL) -> None:
        """Goes to a part."""
        assert share == ALL
        if seed:
            raise errors.NotFoundError(None, None, "no such part")
        self._numbers = iter(range(begin, end))

    def next(self) -> list[Any]:
        """The next number."""
        self.may_go_on.wait()
        try:
            return [next(self._numbers)]
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "the end") from None

    def close(self) -> None:
        """Ends it."""
        self.is_closed = True
        self.may_go_on.set()


@pytest.fixture
def pipeline() -> Iterator[Counting]:
    """What runs borrow."""
    made = Counting()
    yield made
    made.close()


def run_of(pipeline: Any, *parts: Part) -> Run:
    """A run that has ended, if its elements are few."""
    return Run("numbers", parts, lambda name: pipeline, lambda name, given: None)


def part(number: int, begin: int, end: int, first: int = 0, **how: int) -> Part:
    """A part of the numbers."""
    return Part(
        number, begin, end, how.get("seed", 0), first, how.get("stop", TO_THE_END)
    )


def shown(sections: list[Section]) -> list[Any]:
    """The number, the first element, the values and the end of sections."""
    return [
        (
            *(each.number, each.first),
            [i[0] if isinstance(i, tuple) else type(i) for i in each.items],
            each.ended,
        )
        for each in sections
    ]


def test_an_answer_has_elements_of_several_parts(pipeline: Counting) -> None:
    pipeline.may_go_on.clear()
    parts = [part(7, 0, 3, 1), part(8, 10, 14, stop=2), part(9, 0, 0), part(3, 5, 9)]
    run = run_of(pipeline, *parts)
    pipeline.may_go_on.set()
    run.join(300.0)
    found = run.take(7, 1, 5)
    assert shown(found) == [
        (7, 1, [1, 2], True),
        (8, 0, [10, 11], True),
        (9, 0, [], True),
        (3, 0, [5], False),
    ]
    assert run.can_give(7, 1)
    assert run.take(7, 1, 99) == found  # the answer was lost
    assert not run.can_give(8, 0)
    with pytest.raises(errors.UnavailableError):
        run.take(8, 0, 99)
    assert shown(run.take(3, 1, 99)) == [(3, 1, [6, 7, 8], True)]
    assert not run.can_give(3, 4)


def test_a_part_that_cannot_begin_fails_alone(pipeline: Counting) -> None:
    run = run_of(pipeline, part(1, 0, 9, seed=1), part(2, 0, 1))
    run.join(300.0)
    assert shown(run.take(1, 0, 9)) == [
        (1, 0, [errors.NotFoundError], True),
        (2, 0, [0], True),
    ]


def test_parts_are_added_while_it_runs(pipeline: Counting) -> None:
    pipeline.may_go_on.clear()
    run = run_of(pipeline, part(1, 0, 2))
    run.extend([part(1, 0, 2), part(2, 4, 6)])
    pipeline.may_go_on.set()
    run.join(300.0)
    run.extend([part(3, 6, 7)])  # too late
    assert shown(run.take(1, 0, 9)) == [(1, 0, [0, 1], True), (2, 0, [4, 5], True)]
    assert not run.can_give(3, 0)


def test_who_waits_for_a_closed_run_is_told(pipeline: Counting) -> None:
    pipeline.may_go_on.clear()
    run = run_of(pipeline, part(1, 0, 2))
    run.close()
    with pytest.raises(errors.CancelledError):
        run.take(1, 0, 9)
    run.join(300.0)
    assert pipeline.is_closed


def test_the_whole_dataset_is_shared(pipeline: Counting) -> None:
    class Whole(Counting):
        def begin(self, begin: int, end: int, seed: int, share: Share = ALL) -> None:
            super().begin(0, 4, seed)

    run = run_of(Whole(), part(-1, -1, -1))
    run.join(300.0)
    assert shown(run.take(-1, 0, 3)) == [(-1, 0, [0, 1, 2], False)]
    assert shown(run.take(-1, 0, 3)) == [(-1, 3, [3], True)]
    assert shown(run.take(-1, 3, 3)) == [(-1, 0, [], True)]
