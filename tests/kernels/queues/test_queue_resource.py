"""Queues: order, waiting, closing, cancelling."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.runtime.cancellation import CancellationManager
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import SCALAR
from tensorloom.kernels.host.queues.queue_resource import (
    FIFOQueue,
    PriorityQueue,
    Queue,
    RandomShuffleQueue,
)

TIMEOUT_S = 60


def _context() -> Any:
    return SimpleNamespace(cancellation=CancellationManager(), step_id=1)


def _fifo(capacity: int = -1) -> FIFOQueue:
    return FIFOQueue("localhost", "q", [dtypes.int32], [SCALAR], capacity)


def _elements(*values: int) -> list[tuple[Any, ...]]:
    return [(np.int32(value),) for value in values]


def _numbers(elements: list[tuple[Any, ...]]) -> list[int]:
    return [int(element[0]) for element in elements]


class _Background:
    """A call in a thread, with its result or error."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self._call = call
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.result = self._call()
        except errors.OpError as error:
            self.error = error

    def wait_for_end(self) -> _Background:
        self._thread.join(TIMEOUT_S)
        assert not self._thread.is_alive()
        return self


def _wait_for_line(queue: Queue, line: str) -> None:
    """Waits until somebody stands in line and has done what it could."""
    while True:
        with queue._lock:
            if getattr(queue, line):
                return


def test_first_in_first_out() -> None:
    queue = _fifo()
    queue.enqueue(_elements(1, 2, 3), _context())
    assert _numbers(queue.dequeue(2, False, _context())) == [1, 2]
    assert queue.size() == 1


def test_enqueue_waits_for_room() -> None:
    queue = _fifo(capacity=2)
    adding = _Background(lambda: queue.enqueue(_elements(1, 2, 3), _context()))
    _wait_for_line(queue, "_enqueuers")
    assert _numbers(queue.dequeue(3, False, _context())) == [1, 2, 3]
    assert adding.wait_for_end().error is None


def test_dequeue_of_more_than_the_capacity() -> None:
    queue = _fifo(capacity=1)
    taking = _Background(lambda: queue.dequeue(3, False, _context()))
    for value in (1, 2, 3):
        queue.enqueue(_elements(value), _context())
    assert _numbers(taking.wait_for_end().result) == [1, 2, 3]


def test_close_puts_back_what_a_dequeue_had_taken() -> None:
    queue = _fifo()
    queue.enqueue(_elements(1), _context())
    taking = _Background(lambda: queue.dequeue(3, False, _context()))
    while queue.size():
        pass
    queue.close_queue(False, _context())
    error = taking.wait_for_end().error
    assert isinstance(error, errors.OutOfRangeError)
    assert "(requested 2, current size 0)" in error.message
    assert queue.size() == 1


def test_up_to_gives_the_rest() -> None:
    queue = _fifo()
    queue.enqueue(_elements(1, 2), _context())
    queue.close_queue(False, _context())
    assert _numbers(queue.dequeue(5, True, _context())) == [1, 2]
    with pytest.raises(errors.OutOfRangeError, match="requested 5, current size 0"):
        queue.dequeue(5, True, _context())


def test_close_waits_for_the_enqueues_before_it() -> None:
    queue = _fifo(capacity=1)
    adding = _Background(lambda: queue.enqueue(_elements(1, 2), _context()))
    while not queue.size():
        pass
    closing = _Background(lambda: queue.close_queue(False, _context()))
    assert not queue.closed
    assert _numbers(queue.dequeue(2, False, _context())) == [1, 2]
    assert adding.wait_for_end().error is None
    assert closing.wait_for_end().error is None
    assert queue.closed


def test_close_cancels_pending_enqueues() -> None:
    queue = _fifo(capacity=1)
    adding = _Background(lambda: queue.enqueue(_elements(1, 2), _context()))
    while not queue.size():
        pass
    queue.close_queue(True, _context())
    error = adding.wait_for_end().error
    assert isinstance(error, errors.CancelledError)
    assert error.message == "Enqueue operation was cancelled"
    with pytest.raises(errors.CancelledError, match="'q' is closed"):
        queue.enqueue(_elements(3), _context())
    with pytest.raises(errors.CancelledError, match="already closed"):
        queue.close_queue(False, _context())


@pytest.mark.parametrize("cause", [errors.CancelledError, errors.DeadlineExceededError])
def test_cancelled_step_stops_waiting(cause: type[errors.OpError]) -> None:
    queue, context = _fifo(), _context()
    taking = _Background(lambda: queue.dequeue(1, False, context))
    _wait_for_line(queue, "_dequeuers")
    context.cancellation.cancel(cause(None, None, "stop"))
    assert type(taking.wait_for_end().error) is cause
    queue.enqueue(_elements(1), _context())
    assert queue.size() == 1


def test_dequeuers_are_served_in_line() -> None:
    queue = _fifo()
    first = _Background(lambda: queue.dequeue(2, False, _context()))
    _wait_for_line(queue, "_dequeuers")
    second = _Background(lambda: queue.dequeue(1, False, _context()))
    queue.enqueue(_elements(1, 2, 3), _context())
    assert _numbers(first.wait_for_end().result) == [1, 2]
    assert _numbers(second.wait_for_end().result) == [3]


def test_random_shuffle_is_tensorflows() -> None:
    queue = RandomShuffleQueue(
        "localhost",
        "q",
        [dtypes.int32],
        [SCALAR],
        50,
        min_after_dequeue=2,
        seed=87654321,
        seed2=3,
    )
    queue.enqueue(_elements(*range(50)), _context())
    # Recorded from tf.RandomShuffleQueue(50, 2, ..., seed=3) of TensorFlow 1.15.
    assert _numbers(queue.dequeue(20, False, _context())) == [
        *(17, 38, 4, 15, 11, 41, 16, 40, 7, 31),
        *(10, 14, 43, 22, 42, 24, 27, 46, 32, 21),
    ]


def test_random_shuffle_keeps_a_minimum_until_closed() -> None:
    queue = RandomShuffleQueue(
        "localhost",
        "q",
        [dtypes.int32],
        [SCALAR],
        9,
        min_after_dequeue=2,
        seed=1,
        seed2=1,
    )
    queue.enqueue(_elements(1, 2, 3), _context())
    queue.dequeue(1, False, _context())
    taking = _Background(lambda: queue.dequeue(1, False, _context()))
    _wait_for_line(queue, "_dequeuers")
    assert queue.size() == 2
    queue.close_queue(False, _context())
    assert len(taking.wait_for_end().result) == 1


def test_priority_order() -> None:
    queue = PriorityQueue(
        "localhost", "q", [dtypes.int64, dtypes.int32], [SCALAR, SCALAR], -1
    )
    pairs = [(3, 30), (1, 10), (2, 20), (1, 11)]
    queue.enqueue([(np.int64(p), np.int32(v)) for p, v in pairs], _context())
    taken = queue.dequeue(4, False, _context())
    assert [(int(p), int(v)) for p, v in taken] == [(1, 10), (1, 11), (2, 20), (3, 30)]
