"""Copies that are not made, and memory that does not grow."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.registry import op_kernel, op_registry
from tensorloom.framework.registry.shape_inference import unchanged_shape

MB = 2**20
SIDE = 1024  # an array of 4 MB
BYTES = SIDE * SIDE * 4

ADDRESSES: list[int] = []


@pytest.fixture(scope="module", autouse=True)
def _address_ops() -> Iterator[None]:
    """Ops that note where their input lies: in host memory, and as a tensor."""
    for name in ("TestHostAddress", "TestTensorAddress"):
        op_registry.register_op(
            name,
            inputs=["x: T"],
            outputs=["y: T"],
            attrs=["T: type"],
            stateful=True,
            shape_fn=unchanged_shape,
        )

    def note_host(x: Any) -> Any:
        ADDRESSES.append(x.ctypes.data)
        return x

    def note_tensor(x: Any) -> Any:
        ADDRESSES.append(x.data_ptr())
        return x

    op_kernel.host_kernel("TestHostAddress", large=True)(lambda c: note_host)
    op_kernel.kernel("TestTensorAddress")(lambda c: note_tensor)
    yield
    for name in ("TestHostAddress", "TestTensorAddress"):
        op_registry._REGISTRY.pop(name)
        op_kernel._KERNELS.pop(name)


def address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def numpy_peak(call: Callable[[], Any]) -> tuple[int, Any]:
    """The most bytes that NumPy held at once during a call, beyond those before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = call()
        return tracemalloc.get_traced_memory()[1] - before, result
    finally:
        tracemalloc.stop()


DTYPES = ["float32", "float64", "float16", "int32", "int64", "uint8", "bool"]


@pytest.mark.parametrize("op", ["TestHostAddress", "TestTensorAddress"])
@pytest.mark.parametrize("dims", [[64, 64], [None, 64], None], ids=str)
@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "bfloat16"])
def test_a_feed_is_not_copied(dtype: str, dims: Any, op: str) -> None:
    tf_dtype = tf.as_dtype(dtype)
    array = np.ones([64, 64], tf_dtype.as_numpy_dtype)
    x = tf.placeholder(tf_dtype, dims)
    noted = getattr(tf.raw_ops, op)(x=x)
    ADDRESSES.clear()
    with tf.Session() as sess:
        sess.run(noted.op, {x: array})
        sess.make_callable(noted.op, [x])(array)
    assert [address(array)] * 2 == ADDRESSES


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.T,
        lambda a: a[::2],
        lambda a: a.astype(np.float64),
        lambda a: a.tolist(),
    ],
    ids=["transposed", "strided", "other dtype", "list"],
)
def test_any_other_feed_gives_the_right_values(change: Callable[[Any], Any]) -> None:
    array = change(np.arange(12, dtype=np.float32).reshape(4, 3))
    x = tf.placeholder(tf.float32, None)
    with tf.Session() as sess:
        value = sess.run(tf.raw_ops.TestTensorAddress(x=x), {x: array})
        np.testing.assert_array_equal(value, np.asarray(array, np.float32))
        np.testing.assert_array_equal(
            sess.run(x * 2.0, {x: array}), np.asarray(array, np.float32) * 2
        )


def test_a_read_only_feed_stays_as_it_is() -> None:
    array = np.ones([64, 64], np.float32)
    array.flags.writeable = False
    x = tf.placeholder(tf.float32, None)
    with tf.Session() as sess:
        assert sess.run(tf.exp(x) + x, {x: array}).shape == (64, 64)


# How many copies NumPy may hold for a fetch; torch's memory is given out as it is.
FETCHES: dict[str, tuple[Callable[[Any], Any], int]] = {
    "computed": (lambda x: x * 2.0, 0),
    "matmul": (lambda x: x @ x, 0),
    "reduced": (lambda x: tf.reduce_sum(x, 0), 0),
    "the feed": (lambda x: x, 1),
    "identity": (tf.identity, 1),
    "reshaped": (lambda x: tf.reshape(x, [-1]), 1),
    "transposed": (tf.transpose, 1),
    "computed and transposed": (lambda x: tf.transpose(x * 2.0), 1),
    "variable": (lambda x: tf.get_variable("v", [SIDE, SIDE]), 1),
    "resource": (lambda x: tf.get_variable("v", [SIDE, SIDE], use_resource=True), 1),
    "constant": (lambda x: tf.constant(np.ones([SIDE, SIDE], np.float32)), 1),
}


@pytest.mark.parametrize("case", sorted(FETCHES))
def test_a_fetch_is_copied_at_most_once(case: str) -> None:
    build, copies = FETCHES[case]
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    fetch = build(x)
    feed = {x: np.ones([SIDE, SIDE], np.float32)}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(fetch, feed)
        peak, value = numpy_peak(lambda: sess.run(fetch, feed))
    assert peak < copies * BYTES + MB // 2
    assert value.flags.writeable
    assert value.flags.c_contiguous


def test_a_step_keeps_no_value_alive() -> None:
    """Values of a long chain are dropped as it goes; a body's as it ends."""
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    y = x
    for _ in range(50):
        y = tf.raw_ops.TestHostAddress(x=y) + 1.0
    with tf.Session() as sess:
        feed = {x: np.zeros([SIDE, SIDE], np.float32)}
        sess.run(y.op, feed)
        assert numpy_peak(lambda: sess.run(y.op, feed))[0] < 4 * BYTES


# --- the process ----------------------------------------------------------------------


def resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / MB


def training_graph() -> tuple[Any, dict[Any, Any]]:
    x = tf.placeholder(tf.float32, [None, 20])
    y = tf.placeholder(tf.int64, [None])
    hidden = tf.nn.relu(tf.matmul(x, tf.get_variable("w", [20, 16])))
    logits = tf.matmul(hidden, tf.get_variable("w2", [16, 5]))
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    )
    train = tf.train.AdamOptimizer().minimize(loss)
    feed = {x: np.ones([32, 20], np.float32), y: np.arange(32) % 5}
    return [train, loss], feed


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_100_000_steps_leave_memory_flat() -> None:
    fetches, feed = training_graph()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2_000):
            sess.run(fetches, feed)
        before = resident_mb()
        for _ in range(98_000):
            sess.run(fetches, feed)
        assert resident_mb() - before < 2


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("new_graph", [False, True])
def test_1_000_sessions_leave_memory_flat(new_graph: bool) -> None:
    fetches, feed = training_graph()
    init = tf.global_variables_initializer()

    def cycle() -> None:
        if new_graph:
            with tf.Graph().as_default():
                run(*training_graph(), tf.global_variables_initializer())
        else:
            run(fetches, feed, init)

    def run(fetches: Any, feed: Any, init: Any) -> None:
        with tf.Session() as sess:
            sess.run(init)
            sess.run(fetches, feed)

    for _ in range(200):
        cycle()
    before = resident_mb()
    for _ in range(800):
        cycle()
    # Measured: 1 to 4 MB, none of it still referenced; the allocator keeps holes.
    assert resident_mb() - before < 8


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_traces_timeouts_and_queues_leave_memory_flat() -> None:
    fetches, feed = training_graph()
    queue = tf.FIFOQueue(5, tf.float32, [[1000]])
    put, take = queue.enqueue(tf.random_uniform([1000])), queue.dequeue()
    options = tf.RunOptions(
        trace_level=tf.RunOptions.FULL_TRACE,
        output_partition_graphs=True,
        timeout_in_ms=60_000,
    )

    def cycle(sess: Any) -> None:
        sess.run(put)
        sess.run(take)
        sess.run(fetches, feed, options=options, run_metadata=tf.RunMetadata())

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(300):
            cycle(sess)
        before = resident_mb()
        for _ in range(2_000):
            cycle(sess)
        assert resident_mb() - before < 3


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_graph_of_more_than_2_gb_runs() -> None:
    """Constants never pass through a protobuf message within a process."""
    size = 128 * MB  # elements: 512 MB
    parts = [
        tf.reduce_max(tf.constant(np.full([size], i, np.float32), name=f"c{i}"))
        for i in range(5)
    ]
    with tf.Session() as sess:
        before = resident_mb()
        assert sess.run(tf.add_n(parts)) == 10.0
        assert resident_mb() - before < 200  # the constants exist once
    with pytest.raises(ValueError, match="2GB"):
        tf.get_default_graph().as_graph_def()
