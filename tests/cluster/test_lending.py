"""Large variables are lent to the tasks that read them, and updated all the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.runtime import lendable_memory
from tensorloom.transport.peers import liveness
from tests.cluster import processes as task_processes
from tests.cluster.clusters import OTHER, PS, WORKER, cluster
from tests.cluster.processes import processes

pytestmark = pytest.mark.timeout(600)

SHAPE = (1024, 512)  # 2 MB of floats
START = np.arange(SHAPE[0] * SHAPE[1], dtype=np.float32).reshape(SHAPE) % 1000
PATIENCE_S = 300.0
LOST = (tf.errors.UnavailableError, tf.errors.AbortedError)


@pytest.fixture
def target() -> Iterator[str]:
    with cluster(ps=1, worker=2) as servers, tf.Graph().as_default():
        yield servers["worker"][0].target


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether a condition comes true, on a busy machine too."""
    return task_processes.eventually(condition, PATIENCE_S)


def variable(use_resource: bool = True, **named: Any) -> Any:
    with tf.device(PS):
        return tf.Variable(START, use_resource=use_resource, **named)


def lent_blocks() -> list[Any]:
    return [block for block in lendable_memory.used.copy().values() if block.is_lent]


class Reader:
    """A step in which a worker holds the value of a variable until it is told."""

    def __init__(self, read: Any, device: str = WORKER) -> None:
        self.may_go_on = threading.Event()
        read = tf.convert_to_tensor(read)  # before it waits
        with tf.device(device):
            waited = tf.py_func(self._wait, [], tf.float32)
            waited.set_shape(())
            with tf.control_dependencies([waited]):
                self.total = tf.reduce_sum(tf.cast(read, tf.float64))

    def _wait(self) -> np.float32:
        self.may_go_on.wait()
        return np.float32(0)

    def begin(self, session: Any, pool: ThreadPoolExecutor) -> Any:
        """Starts the step; returns when the value is lent."""
        before = len(lent_blocks())
        future = pool.submit(session.run, self.total)
        is_lent = eventually(lambda: len(lent_blocks()) > before or future.done())
        if not is_lent or future.done():
            self.may_go_on.set()
            raise AssertionError(future.result())
        return future


def gradient_step(optimizer: Callable[[], Any]) -> Callable[[Any], Any]:
    gradient = np.linspace(-1, 1, START.size, dtype=np.float32).reshape(SHAPE)
    return lambda v: optimizer().apply_gradients([(tf.constant(gradient), v)])


def sparse_step(optimizer: Callable[[], Any]) -> Callable[[Any], Any]:
    def update(v: Any) -> Any:
        rows = tf.IndexedSlices(tf.ones([2, SHAPE[1]]), tf.constant([3, 5]), SHAPE)
        return optimizer().apply_gradients([(rows, v)])

    return update


UPDATES: dict[str, Callable[[Any], Any]] = {
    "assign": lambda v: tf.assign(v, tf.constant(START + 1)),
    "assign_add": lambda v: tf.assign_add(v, tf.constant(START)),
    "assign_sub": lambda v: tf.assign_sub(v, tf.constant(START)),
    "scatter_update": lambda v: tf.scatter_update(v, [1], np.ones((1, SHAPE[1]), "f")),
    "scatter_add": lambda v: tf.scatter_add(v, [1, 1], np.ones((2, SHAPE[1]), "f")),
    "scatter_nd_add": lambda v: tf.scatter_nd_add(v, [[1, 2]], np.ones(1, "f")),
    "slice": lambda v: v[3:7].assign(tf.zeros([4, SHAPE[1]])),
    "descent": gradient_step(lambda: tf.train.GradientDescentOptimizer(0.5)),
    "momentum": gradient_step(lambda: tf.train.MomentumOptimizer(0.5, 0.9)),
    "adam": gradient_step(lambda: tf.train.AdamOptimizer(0.5)),
    "rms": gradient_step(lambda: tf.train.RMSPropOptimizer(0.5)),
    "adagrad": gradient_step(lambda: tf.train.AdagradOptimizer(0.5)),
    "sparse_descent": sparse_step(lambda: tf.train.GradientDescentOptimizer(0.5)),
    "sparse_momentum": sparse_step(lambda: tf.train.MomentumOptimizer(0.5, 0.9)),
    "sparse_adam": sparse_step(lambda: tf.train.AdamOptimizer(0.5)),
}


def updated_locally(update: Callable[[Any], Any], use_resource: bool) -> Any:
    """The variable after one and after two updates, in a session without tasks."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(START, use_resource=use_resource)
        step = update(v)
        session.run(tf.global_variables_initializer())
        session.run(step)
        once = session.run(v)
        session.run(step)
        return once, session.run(v)


@pytest.mark.slow
@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
def test_updates_while_a_reader_holds_the_value(
    target: str, use_resource: bool
) -> None:
    v = variable(use_resource)
    with tf.device(PS):
        steps = {name: update(v) for name, update in UPDATES.items()}
    reader = Reader(v)
    with tf.device(OTHER):
        seen = tf.identity(v)
    initialize = tf.global_variables_initializer()
    with tf.Session(target) as session, ThreadPoolExecutor() as pool:
        for name, update in UPDATES.items():
            session.run(initialize)
            reader.may_go_on.clear()
            future = reader.begin(session, pool)
            session.run(steps[name])
            once = session.run(seen)
            session.run(steps[name])
            twice = session.run(seen)
            reader.may_go_on.set()
            assert future.result() == START.sum(dtype=np.float64), name
            for got, want in zip(
                (once, twice), updated_locally(update, use_resource), strict=True
            ):
                np.testing.assert_allclose(got, want, rtol=1e-6, err_msg=name)
            assert eventually(lambda: not lent_blocks()), name


def test_a_value_is_copied_once_for_all_readers(target: str) -> None:
    v = variable()
    with tf.device(PS):
        update = tf.assign_add(v, tf.ones(SHAPE)).op
    sums = []
    for device in (WORKER, OTHER):
        with tf.device(device):
            sums.append(tf.reduce_sum(v[:1, 0]) + tf.reduce_sum(v) * 0)
    numbers: set[int] = set()
    others = {block.number for block in lendable_memory.used.copy().values()}
    with tf.Session(target) as session:
        session.run(v.initializer)
        for index in range(5):
            for total in sums:
                assert session.run(total) == index
                assert eventually(lambda: not lent_blocks())
            numbers.update(b.number for b in lendable_memory.used.copy().values())
            session.run(update)
    assert len(numbers - others) == 1


def test_a_fetched_value_is_the_users_own(target: str) -> None:
    v = variable()
    with tf.device(OTHER):
        seen = tf.identity(v)
    with tf.Session(target) as session:
        session.run(v.initializer)
        for fetch in (v, seen):
            for _ in range(2):
                value = session.run(fetch)
                np.testing.assert_array_equal(value, START)
                value[:] = -1
        assert not lent_blocks()


def test_a_variable_assigned_from_another_tasks(target: str) -> None:
    v = variable()
    with tf.device(OTHER):
        copy = tf.Variable(v.initialized_value(), use_resource=True)
        step = tf.assign_add(copy, tf.ones(SHAPE))
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        session.run(step.op)
        np.testing.assert_array_equal(session.run(v), START)
        np.testing.assert_array_equal(session.run(copy), START + 1)


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])
def test_reset_while_a_reader_holds_the_value(target: str, use_resource: bool) -> None:
    v = variable(use_resource)
    reader = Reader(v)
    with ThreadPoolExecutor() as pool:
        session = tf.Session(target)
        session.run(v.initializer)
        future = reader.begin(session, pool)
        (block,) = lent_blocks()
        tf.Session.reset(target)
        assert block.is_lent or future.done()
        reader.may_go_on.set()
        # Unless the session was closed before the step's end.
        with suppress(tf.errors.AbortedError, tf.errors.CancelledError):
            assert future.result() == START.sum(dtype=np.float64)
        with pytest.raises((tf.errors.OpError, RuntimeError)):
            session.run(v)
    with tf.Session(target) as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(v), START)


def test_a_variable_destroyed_while_a_reader_holds_its_value(target: str) -> None:
    v = variable()
    reader = Reader(v)
    with tf.device(PS):
        destroy = tf.raw_ops.DestroyResourceOp(resource=v.handle)
    with tf.Session(target) as session, ThreadPoolExecutor() as pool:
        session.run(v.initializer)
        future = reader.begin(session, pool)
        session.run(destroy)
        session.run(v.initializer)
        reader.may_go_on.set()
        assert future.result() == START.sum(dtype=np.float64)
        np.testing.assert_array_equal(session.run(v), START)


def test_many_variables_and_dtypes(target: str) -> None:
    dtypes = [tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.uint8]
    dtypes += [tf.int16, tf.uint16, tf.int32, tf.int64, tf.complex64, tf.bool]
    with tf.device(PS):
        values = [
            tf.Variable(tf.cast(tf.constant(START[i:] % 2), dtype), use_resource=r)
            for i, dtype in enumerate(dtypes)
            for r in (False, True)
        ]
    with tf.device(OTHER):
        seen = [tf.identity(v) for v in values]
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            there, here = session.run([values, seen])
            for one, other in zip(there, here, strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_readers_and_writers_at_once(target: str) -> None:
    """What a reader sees is one of the values that were written, and whole."""
    v = variable()
    with tf.device(PS):
        fill = tf.assign(v, tf.zeros(SHAPE))
        add = tf.assign_add(v, tf.ones(SHAPE)).op
    spans = []
    for device in (WORKER, OTHER):
        with tf.device(device):
            spans.append(tf.stack([tf.reduce_min(v), tf.reduce_max(v)]))
    rounds = 40
    with tf.Session(target) as session, ThreadPoolExecutor() as pool:
        session.run(fill.op)

        def read(span: Any) -> list[Any]:
            return [session.run(span) for _ in range(rounds)]

        reads = [pool.submit(read, span) for span in spans for _ in range(2)]
        for _ in range(rounds):
            session.run(add)
        for future in reads:
            previous = 0.0
            for low, high in future.result():
                # A step reads the variable once for each of both ops or once for all.
                assert low.is_integer()
                assert high.is_integer()
                assert previous <= max(low, high) <= rounds
                previous = min(low, high)
        np.testing.assert_array_equal(session.run(v), np.full(SHAPE, rounds))


@pytest.mark.multiprocess
@pytest.mark.slow
def test_a_reader_that_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it was lent is freed on the other side with the next update."""
    # However busy the machine is, no task is taken for one that is gone.
    monkeypatch.setattr(liveness, "task_timeout_s", lambda: PATIENCE_S)
    patient = {liveness.TIMEOUT_VARIABLE: str(PATIENCE_S)}
    with processes(patient, ps=1, worker=2) as tasks:
        with tf.Graph().as_default():
            v = variable(name="v")
            with tf.device(OTHER):
                queue = tf.FIFOQueue(5, tf.float32, [[]], shared_name="empty")
                read = tf.convert_to_tensor(v)  # before it waits
                with tf.control_dependencies([queue.dequeue()]):
                    total = tf.reduce_sum(read)
            target = tasks.target("worker")
            with tf.Session(target) as session, ThreadPoolExecutor() as pool:
                session.run(v.initializer)
                future = pool.submit(session.run, total)
                reader = tasks.pid("worker", 1)
                is_lent = eventually(lambda: bool(mapped_blocks(reader)))
                tasks.kill("worker", 1)
                assert is_lent
                with pytest.raises(LOST):
                    future.result()
        with tf.Graph().as_default():
            v = variable(name="v")
            update = tf.assign_add(v, tf.ones(SHAPE)).op
            alone = tf.ConfigProto(device_filters=["/job:ps"])
            with tf.Session(tasks.target("ps"), config=alone) as session:
                for index in range(1, 4):
                    session.run(update)
                    np.testing.assert_array_equal(session.run(v), START + index)
        assert eventually(lambda: len(mapped_blocks(tasks.pid("ps"))) <= 1)


def mapped_blocks(pid: int) -> set[str]:
    """The blocks that a process maps, by their numbers in the file system."""
    with open(f"/proc/{pid}/maps") as maps:
        return {line.split()[4] for line in maps if "tensorloom-variable" in line}
