"""What a consumer has fetched ahead of its program: an account of elements.

    fetched -- claimed --> ready -- given to the program --> read     (exactly once)
    fetched ------------>  ready -- given to the program --> read --> told to be done

Nothing here waits or calls anybody; whoever uses it holds the consumer's lock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.data.service.elements import Item

# Answers that are claimed: one that the program is at, and the next one.
_READY: Final = 2


@dataclass(frozen=True)
class Piece:
    """What a fetcher is to fetch."""

    member: str  # who has it: the consumer, under the name that it had then
    number: int
    split: int
    begin: int
    end: int
    start: int  # the element with which it began here
    position: int  # the one to fetch next
    stop: int


@dataclass
class Chunk:
    """Elements [first, first + len(items)) of a piece."""

    piece: Piece
    first: int
    items: deque[Item]
    done: bool
    answer: int  # of the worker, with which it came
    given: int = 0
    size: int = 0


class Ahead:
    """The chunks of a consumer.

    Args:
      claims: whether a chunk is claimed before the program gets it.
      most: elements that may be outstanding.
    """

    def __init__(self, claims: bool, most: int) -> None:
        self._claims, self._most = claims, most
        self._outstanding = 0
        self._fetched: deque[list[Chunk]] = deque()  # not claimed
        self._ready: deque[Chunk] = deque()  # claimed
        self._read: deque[Chunk] = deque()  # the program has had them
        self._refused: set[int] = set()  # pieces that are others' by now

    @property
    def room(self) -> int:
        """How many more elements are wanted; none if it is not above zero."""
        return self._most - self._outstanding

    @property
    def has_unclaimed(self) -> bool:
        """Whether chunks wait to be claimed."""
        return bool(self._fetched)

    def is_refused(self, piece: Piece) -> bool:
        """Whether a piece turned out to be another consumer's."""
        return piece.number in self._refused

    def add(self, chunks: list[Chunk]) -> None:
        """Takes what came with one answer."""
        self._outstanding += sum(chunk.size for chunk in chunks)
        if self._claims:
            self._fetched.append(chunks)
        else:
            self._ready.extend(chunks)

    def pop(self) -> tuple[Item | None, bool]:
        """The next element for the program, and whether others may go on."""
        has_changed = False
        while self._ready:
            chunk = self._ready[0]
            if chunk.items:
                chunk.given += 1
                self._outstanding -= 1
                item = chunk.items.popleft()
                return item, has_changed or not chunk.items
            self._read.append(self._ready.popleft())
            has_changed = True
        return None, has_changed

    def next_to_settle(self) -> list[Chunk]:
        """What to claim; or what was read to the end of a piece, to be told."""
        if self._claims:
            ahead = {chunk.answer for chunk in self._ready if chunk.items}
            return self._fetched[0] if self._fetched and len(ahead) < _READY else []
        self._read = deque(chunk for chunk in self._read if chunk.done)
        return list(self._read)

    def settled(self, granted: list[bool]) -> None:
        """What `next_to_settle` gave was claimed, or told."""
        if not self._claims:
            for _ in granted:
                self._read.popleft()
            return
        for chunk, is_own in zip(self._fetched.popleft(), granted, strict=True):
            if is_own:
                self._ready.append(chunk)
            else:
                self._outstanding -= chunk.size
                self._refused.add(chunk.piece.number)

    def not_given(self) -> list[list[int]]:
        """(split, first, end) of what was claimed, and the program did not get."""
        return [
            [chunk.piece.split, chunk.first + chunk.given, chunk.first + chunk.size]
            for chunk in self._ready
            if chunk.items and self._claims
        ]
