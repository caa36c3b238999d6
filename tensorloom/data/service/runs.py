"""Runs of pipelines in a worker: a thread makes elements ahead of who asks for them.

An answer has as many elements as there are after a moment, of as many parts as they are
of: a call costs more than most elements.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tensorloom.data.service.pipelines import ALL, Share
from tensorloom.data.service.state import TO_THE_END
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
#: An answer waits so long for the first element,
LONGEST_WAIT_S: Final = 1.0
#: and so long, from its beginning on, for more of them.
_LINGER_S: Final = 0.01


@dataclass(frozen=True)
class Part:
    """A split from its element `first` on, or the whole dataset."""

    number: int  # of the piece
    begin: int
    end: int
    seed: int
    first: int
    stop: int  # the element before which it ends; TO_THE_END

    @property
    def is_whole(self) -> bool:
        """Whether it is the dataset, which all consumers of a job share."""
        return self.begin < 0


@dataclass
class Section:
    """Elements of a part: those from `first` on."""

    number: int
    first: int
    items: list[Item]
    ended: bool = False


class Run:
    """Makes the elements of parts, one after another.

    Args:
      dataset: of which they are parts.
      parts: at least one; the whole dataset is alone.
      borrow: gives a pipeline of a dataset.
      give_back: takes it when all was made.
      share: of the dataset.
    """

    def __init__(
        self,
        dataset: str,
        parts: Sequence[Part],
        borrow: Callable[[str], Pipeline],
        give_back: Callable[[str, Pipeline], None],
        share: Share = ALL,
    ) -> None:
        self.used = time.monotonic()
        self.is_shared = parts[0].is_whole
        self._dataset, self._share = dataset, share
        self._parts = deque(parts)
        self._known = {part.number for part in parts}
        self._borrow, self._give_back = borrow, give_back
        self._pipeline: Pipeline | None = None
        self._changed = threading.Condition()
        # None is the end of a part.
        self._items: deque[tuple[Item | None, int]] = deque()
        self._wanted = 1
        self._bytes = 0
        # The part that is given, and its next element.
        self._given = deque(parts)
        self._at = parts[0].first
        self._last: list[Section] = []
        self._ended = self._closed = False
        self._thread = threading.Thread(
            target=self._work, name="tensorloom-input-run", daemon=True
        )
        self._thread.start()

    def can_give(self, number: int, first: int) -> bool:
        """Whether elements of a part from `first` on are still here."""
        with self._changed:
            return (
                self.is_shared
                or self._is_next(number, first)
                or self._is_last(number, first)
            )

    def extend(self, parts: Sequence[Part]) -> None:
        """Goes on with those parts that it does not know, unless it has ended."""
        with self._changed:
            for part in parts:
                if part.number not in self._known and not self._ended:
                    self._known.add(part.number)
                    self._parts.append(part)
                    self._given.append(part)

    def _is_next(self, number: int, first: int) -> bool:
        return bool(self._given) and (number, first) == (
            self._given[0].number,
            self._at,
        )

    def _is_last(self, number: int, first: int) -> bool:
        last = self._last
        return bool(last) and (number, first) == (last[0].number, last[0].first)

    def take(self, number: int, first: int, most: int) -> list[Section]:
        """The next elements; none if they take long.

        Args:
          number, first: the part of the first one, and its number in it. What the last
            call got may be asked for again.
          most: how many, at most.

        Raises:
          errors.CancelledError: the run was closed.
          errors.UnavailableError: two calls want the same.
        """
        with self._changed:
            self.used = time.monotonic()
            if not self.is_shared and not self._is_next(number, first):
                if not self._is_last(number, first):
                    raise errors.UnavailableError(
                        None, None, "An earlier call was given these elements"
                    )
                return self._last
            limit = max(1, min(most, _MOST))
            self._wait_for(limit)
            if self._closed:
                raise errors.CancelledError(None, None, "The worker has stopped")
            self._last = self._sections(limit)
            self._changed.notify_all()
            return self._last

    def _wait_for(self, count: int) -> None:
        began = time.monotonic()
        while not (self._ended or self._closed or self._is_full(count)):
            wait_s = _LINGER_S if self._items else LONGEST_WAIT_S
            left = began + wait_s - time.monotonic()
            if left <= 0:
                return
            # One wakes the other seldom: they share a processor, as a rule.
            self._wanted = count if self._items else 1
            self._changed.wait(left)
            self._wanted = 1  # by another one who waits

    def _is_full(self, count: int) -> bool:
        return len(self._items) >= count or self._bytes >= _MOST_BYTES

    def _sections(self, limit: int) -> list[Section]:
        """Takes elements, and the ends of parts that follow them."""
        if not self._given:
            return [Section(-1, 0, [], ended=True)]  # of the whole dataset, to another
        found = [Section(self._given[0].number, self._at, [])]
        count = size = 0
        while self._items:
            item, bytes_of = self._items[0]
            if item is not None and (count >= limit or size >= _MOST_BYTES):
                break
            self._items.popleft()
            if item is not None:
                found[-1].items.append(item)
                count, size = count + 1, size + bytes_of
                self._at += 1
                continue
            found[-1].ended = True
            self._given.popleft()
            if not self._given:
                break
            self._at = self._given[0].first
            found.append(Section(self._given[0].number, self._at, []))
        self._bytes -= size
        return found

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
        while (part := self._next_part()) is not None:
            try:
                self._make(self._pipeline_of(part), part)
            except Exception as error:
                # It cannot begin: what asks for it is told why.
                self._put(_as_op_error(error))
            self._put(None)
        with self._changed:
            pipeline, self._pipeline = self._pipeline, None
            closed = self._closed
        if pipeline is not None and not closed:
            self._give_back(self._dataset, pipeline)

    def _next_part(self) -> Part | None:
        with self._changed:
            if self._parts and not self._closed:
                return self._parts.popleft()
            self._ended = True
            self._changed.notify_all()
            return None

    def _pipeline_of(self, part: Part) -> Pipeline:
        """The pipeline, at the first element of a part."""
        pipeline = self._pipeline
        if pipeline is None:
            pipeline = self._borrow(self._dataset)
            with self._changed:
                self._pipeline = pipeline
                closed = self._closed
            if closed:
                pipeline.close()
        pipeline.begin(part.begin, part.end, part.seed, self._share)
        return pipeline

    def _make(self, pipeline: Pipeline, part: Part) -> None:
        at = 0
        while not self._closed and (part.stop == TO_THE_END or at < part.stop):
            item: Item
            try:
                item = tuple(pipeline.next())
            except errors.OutOfRangeError:
                return
            except errors.OpError as error:
                item = error
            at += 1
            if at > part.first:
                self._put(item)

    def _put(self, item: Item | None) -> None:
        size = size_of(item) if item is not None else 0
        with self._changed:
            while not self._closed and (
                len(self._items) >= _AHEAD or self._bytes >= _AHEAD_BYTES
            ):
                self._changed.wait()
            self._items.append((item, size))
            self._bytes += size
            if self._is_full(self._wanted):
                self._changed.notify_all()


def size_of(item: Item) -> int:
    """The bytes of an element, about."""
    if not isinstance(item, tuple):
        return 64
    return 64 + sum(getattr(value, "nbytes", 64) for value in item)


def _as_op_error(error: Exception) -> errors.OpError:
    if isinstance(error, errors.OpError):
        return error
    return status.from_wire(*status.to_wire(error))
