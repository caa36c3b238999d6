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

# Chunks that are claimed: one that the program is at, and the next one.
_READY: Final = 2


@dataclass(frozen=True)
class Piece:
    """What a fetcher is to fetch."""

    member: str  # who has it: the consumer, under the name that it had then
    number: int
    split: int
    begin: int
    end: int
    position: int
    stop: int


@dataclass
class Chunk:
    """Elements [first, first + len(items)) of a piece."""

    piece: Piece
    first: int
    items: deque[Item]
    done: bool
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
        self._fetched: deque[Chunk] = deque()  # not claimed
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

    def add(self, chunk: Chunk) -> None:
        """Takes what was fetched."""
        self._outstanding += chunk.size
        (self._fetched if self._claims else self._ready).append(chunk)

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

    def next_to_settle(self) -> Chunk | None:
        """What to claim; or what was read to the end of a piece, to be told."""
        if self._claims:
            ahead = sum(1 for chunk in self._ready if chunk.items)
            return self._fetched[0] if self._fetched and ahead < _READY else None
        while self._read and not self._read[0].done:
            self._read.popleft()
        return self._read[0] if self._read else None

    def settled(self, granted: bool) -> None:
        """What `next_to_settle` gave was claimed, or told."""
        if not self._claims:
            self._read.popleft()
            return
        chunk = self._fetched.popleft()
        if granted:
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
