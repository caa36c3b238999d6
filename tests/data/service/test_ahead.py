"""The account of what a consumer has fetched."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import pytest

from tensorloom.data.service.ahead import Ahead, Chunk, Piece

if TYPE_CHECKING:
    from tensorloom.data.service.elements import Item


def chunk(number: int, first: int, count: int, done: bool = False) -> Chunk:
    """Elements of a piece, whose values are their numbers."""
    piece = Piece("consumer", number, 10 + number, 0, 100, 0, 0, -1)
    items: deque[Item] = deque([(first + at,) for at in range(count)])
    return Chunk(piece, first, items, done, answer=first, size=count)


def given(ahead: Ahead, count: int) -> list[int]:
    """What the program gets next."""
    items = [ahead.pop()[0] for _ in range(count)]
    return [item[0] for item in items if isinstance(item, tuple)]


def test_nothing_is_given_before_it_is_claimed() -> None:
    ahead = Ahead(claims=True, most=10)
    for first in (0, 2, 4, 6):
        ahead.add([chunk(1, first, 2)])
    assert ahead.pop() == (None, False)
    for _ in range(2):
        assert ahead.next_to_settle()
        ahead.settled([True])
    # One that the program is at, and the next: others may have the rest.
    assert ahead.next_to_settle() == []
    assert (ahead.room, ahead.has_unclaimed) == (2, True)
    assert given(ahead, 1) == [0]
    assert ahead.not_given() == [[11, 1, 2], [11, 2, 4]]
    assert ahead.pop() == ((1,), True)  # there is room to claim
    (third,) = ahead.next_to_settle()
    assert third.first == 4
    assert given(ahead, 3) == [2, 3]
    assert ahead.not_given() == []


def test_what_is_others_is_dropped() -> None:
    ahead = Ahead(claims=True, most=4)
    ahead.add([chunk(1, 0, 4)])
    assert ahead.room == 0
    ahead.settled([False])
    assert ahead.room == 4
    assert ahead.is_refused(chunk(1, 4, 1).piece)
    assert not ahead.is_refused(chunk(2, 0, 1).piece)
    assert ahead.pop() == (None, False)


@pytest.mark.parametrize("empty_end", [False, True])
def test_a_piece_is_told_when_all_of_it_was_read(empty_end: bool) -> None:
    ahead = Ahead(claims=False, most=10)
    ahead.add([chunk(1, 0, 2)])
    ahead.add([chunk(1, 2, 0 if empty_end else 1, done=True)])
    assert given(ahead, 2) == [0, 1]
    assert ahead.next_to_settle() == []
    assert given(ahead, 1) == ([] if empty_end else [2])
    ahead.pop()
    (told,) = ahead.next_to_settle()
    assert told.done
    ahead.settled([True])
    assert ahead.next_to_settle() == []
    assert ahead.not_given() == []


def test_what_came_with_one_answer_is_claimed_together() -> None:
    ahead = Ahead(claims=True, most=10)
    answers = [
        [chunk(1, 0, 2, done=True), chunk(2, 0, 1, done=True), chunk(3, 0, 1)],
        [chunk(3, 1, 1)],
        [chunk(3, 2, 1)],
    ]
    for number, chunks in enumerate(answers):
        for each in chunks:
            each.answer = number
        ahead.add(chunks)
    assert ahead.next_to_settle() == answers[0]
    ahead.settled([True, False, True])
    assert (ahead.room, ahead.is_refused(answers[0][1].piece)) == (5, True)
    ahead.settled([True])
    assert ahead.next_to_settle() == []  # the program is at the first answer still
    assert given(ahead, 3) == [0, 1, 0]
    assert ahead.next_to_settle() == answers[2]
