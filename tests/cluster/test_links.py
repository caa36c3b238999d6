"""Steps whose parts exchange tensors on the connections of their calls."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.cluster.clusters import PS, PS1, WORKER, cluster

LIMIT = tf.RunOptions(timeout_in_ms=60_000)


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    with cluster(ps=2, worker=1) as servers:
        yield servers["worker"][0].target


@pytest.fixture(autouse=True)
def fresh_graph(target: str) -> None:
    tf.Session.reset(target)
    tf.reset_default_graph()


def there_and_back(x: Any, times: int, devices: tuple[str, ...]) -> Any:
    for index in range(times):
        with tf.device(devices[index % len(devices)]):
            x = x + 1.0
        with tf.device(WORKER):
            x = x * 1.0
    return x


@pytest.mark.parametrize("size", [1, 5_000, 30_000, 100_000])
@pytest.mark.parametrize("devices", [(PS,), (PS, PS1)])
@pytest.mark.parametrize("times", [1, 100])
def test_there_and_back(
    target: str, size: int, devices: tuple[str, ...], times: int
) -> None:
    """Within what a connection holds, in shared memory, and past it."""
    x = tf.placeholder(tf.float32, [size])
    y = there_and_back(x, times, devices)
    values = np.arange(size, dtype=np.float32)
    with tf.Session(target) as sess:
        for _ in range(3):
            np.testing.assert_array_equal(
                sess.run(y, {x: values}, LIMIT), values + times
            )


def test_tensors_that_nobody_waits_for_yet(target: str) -> None:
    """Both sides send more than connections hold before either takes anything."""
    x = tf.placeholder(tf.float32, [200, 2000])
    sums = []
    for device, other in ((WORKER, PS), (PS, WORKER)):
        with tf.device(device):
            rows = [row + 1.0 for row in tf.unstack(tf.identity(x))]
        with tf.control_dependencies(rows), tf.device(other):
            sums.append(tf.add_n(rows))
    with tf.Session(target) as sess:
        for total in sess.run(sums, {x: np.ones([200, 2000])}, LIMIT):
            np.testing.assert_array_equal(total, np.full(2000, 400.0))


@pytest.mark.parametrize("failing", [PS, PS1, WORKER])
def test_a_failure_while_the_others_wait(target: str, failing: str) -> None:
    x = tf.placeholder(tf.float32, [])
    y = there_and_back(x, 3, (PS, PS1))
    with tf.device(failing):
        checked = tf.debugging.check_numerics(tf.log(y), "not a number")
    ends = []
    for device in (PS, PS1, WORKER):
        with tf.device(device):
            ends.append(checked + y)
    ends.append(there_and_back(tf.add_n(ends), 3, (PS, PS1)))
    with tf.Session(target) as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="not a number"):
                sess.run(ends, {x: -10.0}, LIMIT)
            sess.run(ends, {x: 1.0}, LIMIT)


@pytest.mark.parametrize("device", [PS, PS1])
def test_a_token_that_comes_late_or_never(target: str, device: str) -> None:
    """The worker waits at its call, and the task in a queue."""
    with tf.device(device):
        queue = tf.FIFOQueue(10, tf.float32, [[]])
        token = queue.dequeue()
        put = queue.enqueue(5.0)
    with tf.device(WORKER):
        result = token * 2.0
    with tf.Session(target) as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.DeadlineExceededError):
                sess.run(result, options=tf.RunOptions(timeout_in_ms=200))
            got: list[Any] = []
            waiting = threading.Thread(
                target=lambda g=got: g.append(sess.run(result, options=LIMIT))
            )
            waiting.start()
            sess.run(put)
            waiting.join()
            assert got == [10.0]


def test_many_steps_at_once(target: str) -> None:
    x = tf.placeholder(tf.float32, [300])
    y = there_and_back(x, 5, (PS, PS1))
    failures: list[object] = []
    with tf.Session(target) as sess:

        def run(start: float) -> None:
            values = np.full(300, start, np.float32)
            for _ in range(10):
                found = sess.run(y, {x: values}, LIMIT)
                if not np.array_equal(found, values + 5):
                    failures.append(found)

        threads = [threading.Thread(target=run, args=(float(i),)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_links_are_used(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the tests above would test something else."""
    from tensorloom.transport.sockets.call_link import CallLink

    pushed: list[str] = []
    push = CallLink.push

    def noted(self: CallLink, tensors: Any) -> bool:
        pushed.extend(key for key, _, _ in tensors)
        return push(self, tensors)

    monkeypatch.setattr(CallLink, "push", noted)
    x = tf.placeholder(tf.float32, [])
    y = there_and_back(x, 2, (PS,))
    with tf.Session(target) as sess:
        assert sess.run(y, {x: 1.0}, LIMIT) == 3.0
    assert pushed
