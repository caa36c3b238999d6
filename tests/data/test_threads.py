"""Threads of pipelines: speed where it counts, errors, cancelling, and an end."""

from __future__ import annotations

import gc
import sys
import threading
import time
import types
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.data.pipeline import environment

D = tf.data.Dataset


def _slow(value: Any) -> Any:
    time.sleep(0.002)
    return value


def _threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("tf_data")]


def _wait_for_no_threads() -> None:
    deadline = time.monotonic() + 60
    while _threads() and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert not _threads()


def _slow_map(count: int, calls: int | None = None) -> Any:
    return D.range(count).map(
        lambda x: tf.py_func(_slow, [x], tf.int64), num_parallel_calls=calls
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: _slow_map(40, 8),
        lambda: _slow_map(40).prefetch(4),
        lambda: _slow_map(40, 4).prefetch(2).map(lambda x: x),
        lambda: (
            D.range(4)
            .interleave(
                lambda x: _slow_map(10).map(lambda y: y + x * 0),
                1,
                num_parallel_calls=2,
            )
            .take(40)
        ),
    ],
    ids=["parallel map", "prefetch", "both", "interleave"],
)
def test_order_and_end(make: Any) -> None:
    iterator = make().make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        found = [int(session.run(element)) % 10 for _ in range(40)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
    assert found == [i % 10 for i in range(40)]
    _wait_for_no_threads()


def test_closing_the_session_ends_threads_in_the_middle() -> None:
    iterator = _slow_map(1000, 4).prefetch(2).make_initializable_iterator()
    element = iterator.get_next()
    session = tf.Session()
    session.run(iterator.initializer)
    for _ in range(12):
        session.run(element)
    assert _threads()
    session.close()
    _wait_for_no_threads()


def test_initializing_again_begins_anew_and_drops_the_old_threads() -> None:
    iterator = _slow_map(100, 4).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        for _ in range(3):
            session.run(iterator.initializer)
            assert [int(session.run(element)) for _ in range(8)] == list(range(8))
        deadline = time.monotonic() + 60
        while len(_threads()) > 8 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(_threads()) <= 8
    _wait_for_no_threads()


def test_an_error_in_a_thread_fails_one_element() -> None:
    numbers = _slow_map(12).map(lambda x: 60 // tf.cast(x - 6, tf.int32)).prefetch(3)
    iterator = numbers.make_initializable_iterator()
    element = iterator.get_next()
    found: list[Any] = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(13):
            try:
                found.append(int(session.run(element)))
            except tf.errors.OpError as error:
                found.append(type(error).__name__)
    assert found[5:8] == [-60, "InvalidArgumentError", 60]
    assert found[-2:] == [12, "OutOfRangeError"]


def test_python_functions_may_wait_for_each_other() -> None:
    meeting = threading.Barrier(2, timeout=60)

    def meet(value: Any) -> Any:
        meeting.wait()
        return value

    pairs = D.range(4).map(lambda x: tf.py_func(meet, [x], tf.int64), 2)
    element = pairs.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [int(session.run(element)) for _ in range(4)] == [0, 1, 2, 3]
    _wait_for_no_threads()


def test_timeout_of_a_step_leaves_the_iterator_usable() -> None:
    queue = tf.FIFOQueue(10, tf.int64, shapes=[])
    enqueue = queue.enqueue(np.int64(7))
    iterator = D.range(9).map(lambda x: queue.dequeue()).make_initializable_iterator()
    element = iterator.get_next()
    short = tf.RunOptions(timeout_in_ms=50)
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(element, options=short)
        session.run(enqueue)
        assert session.run(element) == 7


def test_closing_interrupts_a_step_that_waits() -> None:
    queue = tf.FIFOQueue(10, tf.int64, shapes=[])
    iterator = D.range(9).map(lambda x: queue.dequeue()).make_initializable_iterator()
    element = iterator.get_next()
    session = tf.Session()
    session.run(iterator.initializer)

    def close() -> None:
        (worker,) = session._master._directory.known()
        while not any(s._running for s in worker._sessions.values()):
            time.sleep(0.001)
        session.close()

    closer = threading.Thread(target=close)
    closer.start()
    with pytest.raises(tf.errors.CancelledError):
        session.run(element)
    closer.join()


def test_an_endless_filter_obeys_a_timeout() -> None:
    iterator = D.range(10**12).filter(lambda x: x < 0).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(element, options=tf.RunOptions(timeout_in_ms=50))


def test_many_threads_share_an_iterator() -> None:
    iterator = D.range(400).make_initializable_iterator()
    element = iterator.get_next()
    found: list[int] = []
    with tf.Session() as session:
        session.run(iterator.initializer)

        def read() -> None:
            try:
                while True:
                    found.append(int(session.run(element)))
            except tf.errors.OutOfRangeError:
                return

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
    assert sorted(found) == list(range(400))


def test_torch_that_another_thread_is_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    half = types.ModuleType("torch")
    half.__spec__ = types.SimpleNamespace(_initializing=True)  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "torch", half)
    with environment.without_gradients() as entered:
        assert entered is None
