"""What a worker's run has made, kept for several trainers that read the same elements.

Each trainer reads all that is in the cache at its own pace; whoever is in front has the
run make more. The cache slides: the oldest elements go when it is full, and a trainer
that is behind them misses them. A new trainer begins with the oldest one.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from tensorloom.data.service.runs import LONGEST_WAIT_S, Section, size_of

if TYPE_CHECKING:
    from tensorloom.data.service.elements import Item
    from tensorloom.data.service.runs import Run

#: Bytes of elements that are kept.
MOST_BYTES: Final = 1 << 30


class SharedCache:
    """The elements of one run of a whole dataset.

    Args:
      run: it has no end.
      most_bytes: how much is kept.
    """

    def __init__(self, run: Run, most_bytes: int = MOST_BYTES) -> None:
        self._run, self._most_bytes = run, most_bytes
        self._changed = threading.Condition()
        self._items: dict[int, tuple[Item, int]] = {}  # by number, with its bytes
        self._first = self._end = 0  # the numbers of the oldest one, and of the next
        self._bytes = 0
        self._positions: dict[str, int] = {}
        self._is_making = False

    def take(self, trainer: str, most: int) -> list[Section]:
        """The next elements of a trainer; none if they take long.

        Args:
          trainer: whose place in the cache it is.
          most: how many, at most.

        Raises:
          errors.CancelledError: the run was closed.
        """
        until = time.monotonic() + LONGEST_WAIT_S
        while True:
            with self._changed:
                found = self._next(trainer, most)
                left = until - time.monotonic()
                if found.items or left <= 0:
                    return [found]
                if self._is_making:
                    self._changed.wait(left)
                    continue
                self._is_making = True
            self._make(most)

    def _next(self, trainer: str, most: int) -> Section:
        at = max(self._positions.get(trainer, 0), self._first)
        end = min(at + max(1, most), self._end)
        items = [self._items[number][0] for number in range(at, end)]
        self._positions[trainer] = at + len(items)
        return Section(-1, at, items)

    def _make(self, most: int) -> None:
        """Has the run make more; without the lock, as it may take long."""
        made: list[Item] = []
        try:
            for section in self._run.take(-1, 0, most):
                made += section.items
        finally:
            with self._changed:
                self._is_making = False
                for item in made:
                    size = size_of(item)
                    self._items[self._end] = item, size
                    self._bytes += size
                    self._end += 1
                while self._bytes > self._most_bytes and len(self._items) > 1:
                    self._bytes -= self._items.pop(self._first)[1]
                    self._first += 1
                self._changed.notify_all()
