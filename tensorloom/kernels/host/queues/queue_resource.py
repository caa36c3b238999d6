"""Queues as resources: waiting, closing and cancelling, and the four orders.

An element is a tuple of NumPy values. Who cannot go on waits in line: enqueuers in
one, dequeuers in the other; only the first of a line moves. A dequeuer of several
elements takes them as they come, and puts them back when it fails.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.host.random.philox import Generator

if TYPE_CHECKING:
    import threading

    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape

Element = tuple[Any, ...]

_TOLD: Final = 20  # of a line, so many are told by name


class _Attempt:
    """One operation in line."""

    __slots__ = ("cancelled", "node", "step", "turn")

    def __init__(self, lock: threading.Lock, node: str, step: int) -> None:
        self.cancelled = False  # by a close with cancel_pending_enqueues
        self.node, self.step = node, step  # who waits
        # Its own: only who can go on is woken.
        self.turn = concurrency.Condition(lock)


class Queue(Resource):
    """First in, first out; the other orders override how elements are kept."""

    kind: ClassVar[str] = "FIFOQueue"
    # Whether a closed queue gives what is left to who asks for up to a number.
    gives_fewer: ClassVar[bool] = True

    def __init__(
        self,
        container: str,
        name: str,
        types: Sequence[DType],
        shapes: Sequence[TensorShape] | None,
        capacity: int,
    ) -> None:
        super().__init__(container, name)
        self.types = list(types)
        self.shapes = shapes  # one for each component, or None: any shape
        self.capacity = capacity  # negative: without limit
        self.closed = False
        self._lock = concurrency.Lock()
        self._enqueuers: deque[_Attempt] = deque()
        self._dequeuers: deque[_Attempt] = deque()

    def facts(self) -> dict[str, Any] | None:
        """How full it is, and who waits at it."""
        with self._lock:
            return {
                "kind": self.kind,
                "size": len(self._elements),
                "capacity": self.capacity,
                "closed": self.closed,
                "waiting_to_enqueue": len(self._enqueuers),
                "waiting_to_dequeue": len(self._dequeuers),
                "waiting": [
                    {"node": waits.node, "step": waits.step}
                    for line in (self._enqueuers, self._dequeuers)
                    for waits in islice(line, _TOLD)
                ],
            }

    # --- how elements are kept; under the lock -------------------------------------

    _elements: deque[Element]

    def _make_store(self) -> None:
        self._elements = deque()

    def _put(self, element: Element) -> None:
        self._elements.append(element)

    def _take(self) -> Element:
        return self._elements.popleft()

    def _put_back(self, elements: list[Element]) -> None:
        self._elements.extendleft(reversed(elements))

    def _count(self) -> int:
        return len(self._elements)

    def _available(self) -> int:
        """How many elements may be taken now."""
        return self._count()

    # --- public ----------------------------------------------------------------------

    def size(self) -> int:
        """Number of elements."""
        with self._lock:
            return self._count()

    def enqueue(
        self, elements: Sequence[Element], context: Any, node: str = ""
    ) -> None:
        """Adds the elements in order, waiting for room.

        Args:
          node: who does; `facts` tells it of those that wait.

        Raises:
          errors.CancelledError: the queue is closed, or the wait was cancelled.
        """
        attempt = _Attempt(self._lock, node, context.step_id)
        done = 0
        with _Waiting(self, self._enqueuers, attempt, context):
            while True:
                if attempt.cancelled:
                    raise _cancelled("Enqueue")
                self._check_cancelled(context, "Enqueue")
                if self._enqueuers[0] is attempt:
                    if self.closed:
                        raise errors.CancelledError(
                            None, None, f"{self.kind} '{self.name}' is closed."
                        )
                    done = self._add_while_room(elements, done)
                    if done == len(elements):
                        return
                attempt.turn.wait()

    def _add_while_room(self, elements: Sequence[Element], done: int) -> int:
        before = done
        while done < len(elements) and not 0 <= self.capacity <= self._count():
            self._put(elements[done])
            done += 1
        if done > before:
            self._wake_first()
        return done

    def dequeue(
        self, count: int, allow_fewer: bool, context: Any, node: str = ""
    ) -> list[Element]:
        """Takes `count` elements, waiting for them.

        Args:
          allow_fewer: give what is left when the queue is closed.
          node: who does; `facts` tells it of those that wait.

        Raises:
          errors.OutOfRangeError: the queue is closed and has too few elements.
          errors.CancelledError: the wait was cancelled.
        """
        attempt = _Attempt(self._lock, node, context.step_id)
        taken: list[Element] = []
        allow_fewer = allow_fewer and self.gives_fewer
        with _Waiting(self, self._dequeuers, attempt, context):
            try:
                while True:
                    self._check_cancelled(context, "Dequeue")
                    if self._dequeuers[0] is attempt and self._take_available(
                        taken, count, allow_fewer
                    ):
                        return taken
                    attempt.turn.wait()
            except BaseException:
                self._put_back(taken)
                raise

    def _take_available(
        self, taken: list[Element], count: int, allow_fewer: bool
    ) -> bool:
        """Moves elements to `taken`; True when that is all there will be."""
        wanted, left = count - len(taken), self._count()
        if self.closed and left < wanted:
            if not allow_fewer or not (left or taken):
                raise errors.OutOfRangeError(
                    None,
                    None,
                    f"{self.kind} '{self.name}' is closed and has insufficient "
                    f"elements (requested {wanted}, current size {left})",
                )
            wanted = left
        moved = min(wanted, left if self.closed else self._available())
        taken.extend([self._take() for _ in range(moved)])
        if moved:
            self._wake_first()
        return (self.closed and allow_fewer) or len(taken) == count

    def close_queue(self, cancel_pending: bool, context: Any, node: str = "") -> None:
        """Says that nothing more will be added.

        Args:
          cancel_pending: cancel the enqueuers in line; else they come first.
          node: who does; `facts` tells it of those that wait.

        Raises:
          errors.CancelledError: the queue is closed already, and nothing is to be
            cancelled.
        """
        if cancel_pending:
            with self._lock:
                self.closed = True
                self._cancel_enqueuers()
            return
        attempt = _Attempt(self._lock, node, context.step_id)
        with _Waiting(self, self._enqueuers, attempt, context):
            while self._enqueuers[0] is not attempt:
                self._check_cancelled(context, "Close")
                attempt.turn.wait()
            self._check_open()
            self.closed = True
            self._wake_first()

    def _wake_first(self) -> None:
        """Only the first of a line moves."""
        for line in (self._enqueuers, self._dequeuers):
            if line:
                line[0].turn.notify()

    def _cancel_enqueuers(self) -> None:
        for attempt in self._enqueuers:
            attempt.cancelled = True
            attempt.turn.notify()
        self._wake_first()

    def _check_open(self) -> None:
        if self.closed:
            raise errors.CancelledError(
                None, None, f"Queue '{self.name}' is already closed."
            )

    def _check_cancelled(self, context: Any, what: str) -> None:
        cancellation = context.cancellation
        if not cancellation.cancelled:
            return
        if isinstance(cancellation.cause, errors.DeadlineExceededError):
            cancellation.check()
        raise _cancelled(what)

    def close(self) -> None:
        """The resource is deleted: wakes everybody."""
        with self._lock:
            self.closed = True
            self._cancel_enqueuers()


def _cancelled(what: str) -> errors.CancelledError:
    return errors.CancelledError(None, None, f"{what} operation was cancelled")


class _Waiting:
    """Being in line, under the queue's lock; the step's cancellation wakes."""

    def __init__(
        self, queue: Queue, line: deque[_Attempt], attempt: _Attempt, context: Any
    ) -> None:
        self._queue = queue
        self._line = line
        self._attempt = attempt
        self._cancellation = context.cancellation

    def _wake(self) -> None:
        with self._queue._lock:
            self._attempt.turn.notify()

    def __enter__(self) -> None:
        self._token = self._cancellation.register(self._wake)
        self._queue._lock.acquire()
        self._line.append(self._attempt)

    def __exit__(self, *exc_info: object) -> None:
        self._line.remove(self._attempt)
        self._queue._wake_first()
        self._queue._lock.release()
        if self._token is not None:
            self._cancellation.deregister(self._token)


class FIFOQueue(Queue):
    """First in, first out."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._make_store()


class PaddingFIFOQueue(FIFOQueue):
    """Elements may differ in the dimensions that the shapes leave open."""

    kind = "PaddingFIFOQueue"


class RandomShuffleQueue(Queue):
    """Gives a random element; keeps a minimum so that the mix stays good."""

    kind = "RandomShuffleQueue"

    def __init__(
        self, *args: Any, min_after_dequeue: int, seed: int, seed2: int
    ) -> None:
        super().__init__(*args)
        self._pool: list[Element] = []
        self.min_after_dequeue = min_after_dequeue
        self.seeds = (seed, seed2)
        self._generator = Generator(seed, seed2)
        self._words: list[int] = []

    def _put(self, element: Element) -> None:
        self._pool.append(element)

    def _take(self) -> Element:
        if not self._words:
            block = self._generator.reserve(1).blocks(1)
            self._words = [int(word) for word in block.reshape(-1)[::-1]]
        pool = self._pool
        index = self._words.pop() % len(pool)
        pool[index], pool[-1] = pool[-1], pool[index]
        return pool.pop()

    def _put_back(self, elements: list[Element]) -> None:
        self._pool.extend(elements)

    def _count(self) -> int:
        return len(self._pool)

    def _available(self) -> int:
        return max(0, len(self._pool) - self.min_after_dequeue)


class PriorityQueue(Queue):
    """Smallest first component first; equal ones in the order of their coming."""

    kind = "PriorityQueue"
    gives_fewer = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._heap: list[tuple[int, int, Element]] = []
        self._next = 0

    def _put(self, element: Element) -> None:
        heapq.heappush(self._heap, (int(element[0]), self._next, element))
        self._next += 1

    def _take(self) -> Element:
        return heapq.heappop(self._heap)[2]

    def _put_back(self, elements: list[Element]) -> None:
        # Before the elements of the same priority that came in the meantime.
        for i, element in enumerate(elements):
            order = i - len(elements) - self._next
            heapq.heappush(self._heap, (int(element[0]), order, element))

    def _count(self) -> int:
        return len(self._heap)
