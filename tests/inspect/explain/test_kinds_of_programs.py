"""What programs are made of is explained, and every node is accounted for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tests.cluster.clusters import cluster
from tests.inspect.explain.accounts import problems, says_all

if TYPE_CHECKING:
    from tensorloom.inspect.explain.explanation import Explanation

# What is fetched, and what is fed. A generator may build on after each step.
Steps = Iterator[tuple[Any, dict[Any, Any]]]
LIMIT = tf.ConfigProto(device_count={"CPU": 2}, operation_timeout_in_ms=120_000)


def control_flow() -> Steps:
    x = tf.placeholder(tf.float32, [None, 4], name="x")

    def grown(y: Any) -> Any:
        return tf.while_loop(lambda z: tf.reduce_sum(z) < 0, lambda z: z + 1.0, [y])

    def body(i: Any, y: Any) -> Any:
        is_positive = tf.reduce_sum(y) > 0
        return i + 1, tf.cond(is_positive, lambda: y * 2.0, lambda: grown(y))

    _, y = tf.while_loop(lambda i, _: i < 3, body, [0, x])
    gradient = tf.gradients(tf.reduce_sum(y * y), x)
    yield [y, gradient], {x: np.ones([2, 4])}
    yield [y, gradient], {x: -np.ones([2, 4])}
    branches = [lambda: tf.constant(1), lambda: tf.constant(2)]
    yield tf.switch_case(tf.constant(1), branches), {}
    yield tf.scan(lambda a, b: a + b, tf.range(4)), {}
    yield tf.map_fn(lambda b: b * 2, tf.range(4)), {}


def functions() -> Steps:
    @tf.function
    def looped(a: Any, n: int) -> Any:
        total = a
        for _ in tf.range(n):
            if tf.reduce_sum(total) > 3.0:
                total = total - 1.0
            else:
                total = total + tf.nn.relu(total)
        return total

    @tf.custom_gradient
    def steep(a: Any) -> Any:
        return a * 2.0, lambda d: d * 5.0

    x = tf.placeholder(tf.float32, [None])
    yield [looped(x, 4), tf.gradients(looped(x, 4), x)], {x: [1.0, 2.0]}
    yield tf.gradients(steep(x), x), {x: [1.0]}
    yield tf.py_func(lambda a: a * 2, [x], tf.float32), {x: [1.0]}


def data() -> Steps:
    numbers = tf.data.Dataset.range(20).map(lambda i: i * 2, num_parallel_calls=2)
    batches = numbers.filter(lambda i: i % 3 < 2).shuffle(5).batch(4).prefetch(2)
    one_shot = tf.data.make_one_shot_iterator(batches)
    yield one_shot.get_next() * 2, {}
    yield one_shot.string_handle(), {}
    rows = batches.interleave(tf.data.Dataset.from_tensor_slices, 2)
    iterator = tf.data.make_initializable_iterator(rows)
    yield iterator.initializer, {}
    yield iterator.get_next(), {}
    zero = tf.constant(0, tf.int64)
    yield batches.reduce(zero, lambda a, b: a + tf.reduce_sum(b)), {}
    yield tf.train.range_input_producer(3).size(), {}


def ragged_sparse_and_strings() -> Steps:
    rows = tf.ragged.constant([[1, 2], [], [3]])
    yield (
        [tf.reduce_sum(rows, 1), (rows * 2).to_tensor(), tf.concat([rows, rows], 1)],
        {},
    )
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    product = tf.sparse_tensor_dense_matmul(sparse, tf.eye(2))
    yield [tf.sparse.to_dense(sparse), product, sparse], {}
    yield [tf.string_split(["a b", "c"]), tf.strings.join(["a", ["b", "c"]])], {}
    fed = tf.sparse_placeholder(tf.float32)
    yield tf.sparse_reduce_sum(fed), {fed: ([[0, 0]], [1.0], [2, 2])}
    entries = tf.lookup.KeyValueTensorInitializer(["a"], [1])
    table = tf.lookup.StaticHashTable(entries, -1)
    yield tf.tables_initializer(), {}
    yield table.lookup(tf.constant(["a", "b"])), {}


def quantized() -> Steps:
    x = tf.placeholder(tf.float32, [2, 4])
    q = tf.quantization.quantize(x, -1.0, 1.0, tf.quint8)
    back = tf.quantization.dequantize(q.output, q.output_min, q.output_max)
    yield [back, tf.fake_quant_with_min_max_args(x)], {x: np.zeros([2, 4])}
    y = tf.nn.relu(tf.matmul(x, tf.get_variable("w", [4, 3])))
    tf.contrib.quantize.create_eval_graph(tf.get_default_graph())
    yield tf.global_variables_initializer(), {}
    yield y, {x: np.zeros([2, 4])}


def training() -> Steps:
    x = tf.placeholder(tf.float32, [None, 8])
    for is_resource in (False, True):
        with tf.variable_scope(f"net_{is_resource}", use_resource=is_resource):
            dense = tf.layers.dense(tf.layers.dropout(x, training=True), 4, tf.nn.relu)
            y = tf.layers.batch_normalization(dense, training=True)
            loss = tf.reduce_mean(tf.square(y))
            train = [
                tf.train.AdamOptimizer(0.1).minimize(loss),
                tf.train.AdagradOptimizer(0.1).minimize(loss),
                tf.train.RMSPropOptimizer(0.1).minimize(loss),
            ]
            yield tf.global_variables_initializer(), {}
            updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
            yield [train, updates, loss], {x: np.ones([3, 8])}
    yield tf.report_uninitialized_variables(), {}
    told = [tf.summary.scalar("loss", loss), tf.summary.histogram("y", y)]
    yield tf.summary.merge(told), {x: np.ones([3, 8])}


def recurrent_and_images() -> Steps:
    x = tf.placeholder(tf.float32, [2, 5, 4])
    rnn, cells = tf.nn.dynamic_rnn, tf.nn.rnn_cell
    y, _ = rnn(cells.LSTMCell(3), x, sequence_length=[3, 5], dtype=tf.float32)
    y, _ = rnn(cells.GRUCell(3), y, dtype=tf.float32, scope="second")
    gradients = tf.gradients(y, tf.trainable_variables())
    yield tf.global_variables_initializer(), {}
    yield [y, gradients], {x: np.ones([2, 5, 4])}
    images = tf.placeholder(tf.float32, [None, 8, 8, 3])
    maps = tf.layers.conv2d(images, 4, 3, activation=tf.nn.relu)
    pooled = tf.layers.max_pooling2d(maps, 2, 2)
    yield tf.global_variables_initializer(), {}
    yield [pooled, tf.gradients(pooled, images)], {images: np.ones([1, 8, 8, 3])}
    yield tf.image.resize_bilinear(images, [4, 4]), {images: np.ones([1, 8, 8, 3])}


def draws_and_arrays() -> Steps:
    yield [tf.random.normal([3]), tf.random.stateless_uniform([2], [1, 2])], {}
    yield tf.random_shuffle(tf.range(3)), {}
    yield tf.TensorArray(tf.float32, 3).unstack([1.0, 2.0, 3.0]).stack(), {}


def compiled() -> Steps:
    x = tf.placeholder(tf.float32, [4])
    (y,) = tf.xla.experimental.compile(lambda a: a * 2.0 + 1.0, [x])
    yield y, {x: np.ones([4])}


def replicas() -> Steps:
    from tensorloom.python.ops import collective_ops  # type: ignore[import-not-found]

    sums = []
    for index in range(2):
        with tf.device(f"/cpu:{index}"):
            part = tf.constant([1.0, 2.0])
            sums.append(collective_ops.all_reduce(part, 2, 1, 1, "Add", "Id"))
    yield sums, {}
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        v = tf.get_variable("v", [3], initializer=tf.ones_initializer())
        each = strategy.experimental_run_v2(lambda: tf.reduce_sum(v * 2.0))
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, each)
    yield tf.global_variables_initializer(), {}
    yield total, {}


IN_ANY_TASK = [
    control_flow,
    functions,
    data,
    ragged_sparse_and_strings,
    quantized,
    training,
    recurrent_and_images,
    draws_and_arrays,
    compiled,
]
HERE = [*IN_ANY_TASK, replicas]


def check(e: Explanation) -> None:
    assert problems(e) == []
    says_all(e)
    assert all(e.node(name) for name in e.built.nodes)


@pytest.mark.slow
@pytest.mark.parametrize("is_v2", [True, False], ids=["v2", "classic"])
@pytest.mark.parametrize("kind", HERE, ids=lambda k: k.__name__)
def test_in_this_process(kind: Any, is_v2: bool) -> None:
    was_v2 = tf.control_flow_v2_enabled()
    (tf.enable_control_flow_v2 if is_v2 else tf.disable_control_flow_v2)()
    try:
        with tf.Session(config=LIMIT) as sess:
            for fetches, feeds in kind():
                check(sess.explain(fetches, feeds))
                check(sess.explain(fetches, feeds, run=False))
    finally:
        (tf.enable_control_flow_v2 if was_v2 else tf.disable_control_flow_v2)()


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    with cluster(worker=2) as servers:
        yield servers["worker"][0].target


@pytest.mark.slow
@pytest.mark.parametrize("kind", IN_ANY_TASK, ids=lambda k: k.__name__)
def test_in_another_task(kind: Any, target: str) -> None:
    with (
        tf.device("/job:worker/task:1"),
        tf.Session(target, config=LIMIT) as sess,
    ):
        for fetches, feeds in kind():
            check(sess.explain(fetches, feeds))
