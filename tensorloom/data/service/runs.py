"""Runs of pipelines in a worker: a thread makes elements ahead of who asks for them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tensorloom.framework import errors
from tensorloom.transport.wire import status

if TYPE_CHECKING:
    from tensorloom.data.service.elements import Item
    from tensorloom.data.service.pipelines import Pipeline

#: Elements, and bytes, that are made ahead.
_AHEAD: Final = 256
_AHEAD_BYTES: Final = 32 << 20
#: Elements, and bytes, of one answer, about.
_MOST: Final = 256
_MOST_BYTES: Final = 8 << 20
#: An answer waits so long for the first element.
_LONGEST_WAIT_S: Final = 1.0


@dataclass(frozen=True)
class Part:
    """What a run makes: a split from its element `first` on, or the whole dataset."""

    dataset: str
    begin: int
    end: int
    seed: int
    first: int

    @property
    def is_whole(self) -> bool:
        """Whether it is the dataset, which all consumers of a job share."""
        return self.begin < 0


class Run:
    """Makes the elements of a part.

    Args:
      part: which.
      borrow: gives a pipeline of the part's dataset.
      give_back: takes it when the part has ended.
    """

    def __init__(
        self,
        part: Part,
        borrow: Callable[[str], Pipeline],
        give_back: Callable[[str, Pipeline], None],
    ) -> None:
        self.part = part
        self.used = time.monotonic()
        self._borrow, self._give_back = borrow, give_back
        self._pipeline: Pipeline | None = None
        self._changed = threading.Condition()
        self._items: deque[tuple[Item, int]] = deque()
        self._bytes = 0
        self._at = part.first  # of the first item
        self._last: tuple[int, list[Item]] = (part.first, [])
        self._ended = self._closed = False
        self._thread = threading.Thread(
            target=self._work, name="tensorloom-input-run", daemon=True
        )
        self._thread.start()

    def can_give(self, first: int) -> bool:
        """Whether elements from `first` on are still here."""
        with self._changed:
            return self.part.is_whole or first in (self._at, self._last[0])

    def take(self, first: int, most: int) -> tuple[int, list[Item], bool]:
        """The next elements, whether they are the last; none if they take long.

        Args:
          first: the number of the first one. What the last call got may be asked for
            again.
          most: how many, at most.

        Raises:
          errors.CancelledError: the run was closed.
        """
        with self._changed:
            self.used = time.monotonic()
            if not self.part.is_whole and first != self._at:
                begin, items = self._last
                return begin, items, self._ended and not self._items
            until = time.monotonic() + _LONGEST_WAIT_S
            while not (self._items or self._ended or self._closed):
                left = until - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            if self._closed:
                raise errors.CancelledError(None, None, "The worker has stopped")
            items, size = [], 0
            limit = max(1, min(most, _MOST))
            while self._items and len(items) < limit and size < _MOST_BYTES:
                item, count = self._items.popleft()
                items.append(item)
                size += count
            self._bytes -= size
            self._last = self._at, items
            self._at += len(items)
            self._changed.notify_all()
            return self._last[0], items, self._ended and not self._items

    def close(self) -> None:
        """Ends the thread, and what it runs."""
        with self._changed:
            self._closed = True
            pipeline = self._pipeline
            self._changed.notify_all()
        if pipeline is not None:
            pipeline.close()

    def join(self, timeout_s: float) -> None:
        """Waits for the end of the thread."""
        self._thread.join(timeout_s)

    def _work(self) -> None:
        try:
            pipeline = self._borrow(self.part.dataset)
            with self._changed:
                self._pipeline = pipeline
                closed = self._closed
            if closed:
                pipeline.close()
                return
            pipeline.begin(self.part.begin, self.part.end, self.part.seed)
            self._make(pipeline)
        except Exception as error:
            # It cannot begin: what asks for it is told why.
            self._put(_as_op_error(error))
        with self._changed:
            pipeline_left, self._pipeline = self._pipeline, None
            closed, self._ended = self._closed, True
            self._changed.notify_all()
        if pipeline_left is not None and not closed:
            self._give_back(self.part.dataset, pipeline_left)

    def _make(self, pipeline: Pipeline) -> None:
        skipped = 0
        while not self._closed:
            item: Item
            try:
                item = tuple(pipeline.next())
            except errors.OutOfRangeError:
                return
            except errors.OpError as error:
                item = error
            if skipped < self.part.first:
                skipped += 1
                continue
            self._put(item)

    def _put(self, item: Item) -> None:
        size = 64
        if isinstance(item, tuple):
            size += sum(getattr(value, "nbytes", 64) for value in item)
        with self._changed:
            while not self._closed and (
                len(self._items) >= _AHEAD or self._bytes >= _AHEAD_BYTES
            ):
                self._changed.wait()
            self._items.append((item, size))
            self._bytes += size
            self._changed.notify_all()


def _as_op_error(error: Exception) -> errors.OpError:
    if isinstance(error, errors.OpError):
        return error
    return status.from_wire(*status.to_wire(error))
