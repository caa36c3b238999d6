"""Programs over neural network ops; each returns fetched values.

The same programs, run under TensorFlow 1.15.0 with the same seeds, gave the names and
values in `recorded/nn_programs.txt`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tensorloom as tf

PROGRAMS: dict[str, Callable[[], list[Any]]] = {}


def _program(build: Callable[[], list[Any]]) -> Callable[[], list[Any]]:
    PROGRAMS[build.__name__] = build
    return build


def _normal(seed: int, *shape: int) -> Any:
    return np.random.RandomState(seed).randn(*shape)


def _fetch(fetches: Any, feeds: dict[Any, Any] | None = None) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return list(session.run(fetches, feeds))


def _train(loss: Any, step: Any, feeds: dict[Any, Any], more: Any, steps: int) -> Any:
    """The loss of each step, then the values of `more`."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step], feeds)[0] for _ in range(steps)]
        return [*losses, *session.run(more)]


@_program
def convolutional_network() -> list[Any]:
    """Convolutions, pools and dropout with Adam, every number from the graph seed."""
    x = tf.placeholder(tf.float32, [None, 28, 28, 1], name="x")
    y = tf.placeholder(tf.int64, [None], name="y")

    def layer(value: Any, name: str, depth: int, outputs: int) -> Any:
        with tf.variable_scope(name):
            w = tf.get_variable("w", [3, 3, depth, outputs])
            b = tf.get_variable("b", [outputs], initializer=tf.zeros_initializer())
            value = tf.nn.conv2d(value, w, [1, 1, 1, 1], "SAME")
            value = tf.nn.relu(tf.nn.bias_add(value, b))
            return tf.nn.max_pool(value, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")

    h = layer(layer(x, "c1", 1, 8), "c2", 8, 16)
    h = tf.reshape(h, [-1, 7 * 7 * 16])
    stddev = tf.truncated_normal_initializer(stddev=0.05)
    w = tf.get_variable("w", [784, 32], initializer=stddev)
    b = tf.Variable(tf.constant(0.1, shape=[32]), name="b")
    h = tf.nn.dropout(tf.nn.relu(tf.matmul(h, w) + b), 0.7)
    w2 = tf.Variable(tf.random_normal([32, 10], stddev=0.1))
    logits = tf.matmul(h, w2)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    )
    step = tf.train.AdamOptimizer(1e-2).minimize(loss)
    random = np.random.RandomState(0)
    images = random.rand(16, 28, 28, 1).astype("f")
    feeds = {x: images, y: random.randint(0, 10, 16)}
    return _train(loss, step, feeds, [w2[:2]], 5)  # type: ignore[no-any-return]


def _batch_norm(value: Any, name: str, updates: list[Any]) -> Any:
    with tf.variable_scope(name):
        size = value.shape[-1].value
        ones, zeros = tf.ones_initializer(), tf.zeros_initializer()
        scale = tf.get_variable("g", [size], initializer=ones)
        offset = tf.get_variable("b", [size], initializer=zeros)
        mean = tf.get_variable("m", [size], initializer=zeros, trainable=False)
        var = tf.get_variable("v", [size], initializer=ones, trainable=False)
        out, batch_mean, batch_var = tf.nn.fused_batch_norm(
            value, scale, offset, epsilon=1e-3
        )
        updates.append(tf.assign_sub(mean, (mean - batch_mean) * 0.1))
        updates.append(tf.assign_sub(var, (var - batch_var) * 0.1))
        return out


def _conv(value: Any, name: str, outputs: int, size: int = 3, stride: int = 1) -> Any:
    with tf.variable_scope(name):
        shape = [size, size, value.shape[-1].value, outputs]
        w = tf.get_variable("w", shape, initializer=tf.initializers.he_normal())
        return tf.nn.conv2d(value, w, stride, "SAME")


@_program
def residual_network() -> list[Any]:
    """Batch normalization, strides and a short cut, with Momentum and L2."""
    x = tf.placeholder(tf.float32, [None, 16, 16, 3])
    y = tf.placeholder(tf.float32, [None, 10])
    updates: list[Any] = []
    h = tf.nn.relu(_batch_norm(_conv(x, "c0", 8), "b0", updates))
    z = tf.nn.relu(_batch_norm(_conv(h, "c1", 16, 3, 2), "b1", updates))
    z = _batch_norm(_conv(z, "c2", 16), "b2", updates)
    h = tf.nn.relu(z + _conv(h, "sc", 16, 1, 2))
    h = tf.nn.avg_pool(h, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
    h = tf.reduce_mean(h, [1, 2])
    logits = tf.matmul(h, tf.get_variable("fc", [16, 10]))
    loss = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)
    )
    loss += 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
    with tf.control_dependencies(updates):
        step = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
    random = np.random.RandomState(0)
    images = random.rand(8, 16, 16, 3).astype("f")
    labels = np.eye(10, dtype="f")[random.randint(0, 10, 8)]
    moments = [v for v in tf.global_variables() if v.op.name in ("b1/m", "b1/v")]
    return _train(loss, step, {x: images, y: labels}, moments, 4)  # type: ignore[no-any-return]


@_program
def activations() -> list[Any]:
    """Every activation after batch normalization by hand."""
    x = tf.placeholder(tf.float32, [None, 6])
    mean, variance = tf.nn.moments(x, [0])
    offset, scale = tf.Variable(tf.zeros([6])), tf.Variable(tf.ones([6]))
    y = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
    y = tf.nn.l2_normalize(tf.nn.elu(y), 1) + tf.nn.selu(y) + tf.nn.softplus(y)
    y = y + tf.nn.softsign(y) + tf.nn.leaky_relu(y) + tf.nn.relu6(y)
    y = y + tf.nn.crelu(y)[:, :6]
    loss = tf.reduce_sum(y**2)
    grads = tf.gradients(loss, [*tf.trainable_variables(), x])
    return _fetch([loss, *grads], {x: _normal(1, 5, 6)})


@_program
def losses() -> list[Any]:
    """The losses and their gradients with respect to logits and labels."""
    logits = tf.placeholder(tf.float32, [None, 4])
    labels = tf.placeholder(tf.float32, [None, 4])
    values = [
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits),
        tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits),
        tf.nn.weighted_cross_entropy_with_logits(labels, logits, 2.0),
        tf.nn.log_poisson_loss(labels, logits, True),
        tf.nn.softmax(logits, 0),
        tf.nn.log_softmax(logits),
        tf.nn.softmax(logits),
        tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.argmax(labels, 1), logits=logits
        ),
        tf.nn.top_k(logits, 2)[0],
    ]
    total = tf.add_n([tf.reduce_sum(value) for value in values])
    grads = tf.gradients(total, [logits, labels])
    feeds = {logits: _normal(1, 3, 4), labels: np.random.RandomState(2).rand(3, 4)}
    return _fetch(values + grads, feeds)


@_program
def losses_of_sequences() -> list[Any]:
    """Cross entropies over more than one batch dimension, of unknown size."""
    logits = tf.placeholder(tf.float32, [None, None, 4])
    labels = tf.placeholder(tf.int32, [None, None])
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits
    )
    dense = tf.nn.softmax_cross_entropy_with_logits_v2(
        labels=tf.one_hot(labels, 4), logits=logits
    )
    grads = tf.gradients(sparse, logits) + tf.gradients(dense, logits)
    classes = np.random.RandomState(2).randint(0, 4, (2, 3))
    feeds = {logits: _normal(1, 2, 3, 4), labels: classes}
    return _fetch([sparse, dense, *grads], feeds)


@_program
def second_derivatives() -> list[Any]:
    """Gradients of gradients: cross entropy, convolution and pooling."""
    logits = tf.placeholder(tf.float32, [3, 4])
    labels = tf.constant(np.eye(4, dtype="f")[:3])
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    grad = tf.gradients(loss, logits)[0]
    first = [grad, *tf.gradients(tf.reduce_sum(grad**2), logits)]
    x = tf.placeholder(tf.float32, [2, 6, 6, 2])
    f = tf.Variable(tf.random_normal([3, 3, 2, 3]))
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, f, 1, "SAME"), tf.ones([3])))
    y = tf.nn.avg_pool(tf.nn.max_pool(y, 2, 2, "SAME"), 2, 1, "SAME")
    grads = tf.gradients(tf.reduce_sum(y**2), [x, f])
    second = tf.gradients([tf.reduce_sum(v**2) for v in grads], [x, f])
    feeds = {logits: _normal(1, 3, 4), x: _normal(1, 2, 6, 6, 2)}
    return _fetch(first + grads + second, feeds)


@_program
def convolutions() -> list[Any]:
    """Each kind of convolution, and the gradients through all of them."""
    x = tf.placeholder(tf.float32, [2, 9, 9, 4])
    f = tf.Variable(tf.random_normal([3, 3, 4, 6]))
    depthwise = tf.Variable(tf.random_normal([3, 3, 4, 2]))
    pointwise = tf.Variable(tf.random_normal([1, 1, 8, 3]))
    values = [
        tf.nn.conv2d(x, f, [1, 2, 2, 1], "SAME"),
        tf.nn.conv2d(x, f, [1, 1, 1, 1], [[0, 0], [1, 2], [0, 1], [0, 0]]),
        tf.nn.atrous_conv2d(x, f, 2, "SAME"),
        tf.nn.depthwise_conv2d(x, depthwise, [1, 1, 1, 1], "SAME"),
        tf.nn.depthwise_conv2d(x, depthwise, [1, 1, 1, 1], "VALID", rate=[2, 2]),
        tf.nn.separable_conv2d(x, depthwise, pointwise, [1, 2, 2, 1], "SAME"),
        tf.nn.conv2d_transpose(
            x, tf.random_normal([3, 3, 5, 4]), [2, 18, 18, 5], [1, 2, 2, 1]
        ),
        tf.nn.conv1d(x[:, 0], f[0], 2, "SAME"),
        tf.nn.pool(x, [2, 2], "AVG", "VALID", dilation_rate=[2, 2]),
        tf.nn.lrn(x, 2, 1.0, 0.5, 0.75),
        tf.nn.atrous_conv2d_transpose(
            x, tf.random_normal([3, 3, 5, 4]), [2, 9, 9, 5], 2, "SAME"
        ),
    ]
    loss = tf.add_n([tf.reduce_sum(v * v) for v in values])
    grads = tf.gradients(loss, [f, depthwise, pointwise, x])
    sums = [tf.reduce_sum(tf.abs(v)) for v in values + grads]
    return _fetch(sums, {x: _normal(1, 2, 9, 9, 4)})


@_program
def embeddings() -> list[Any]:
    """Look-ups in whole and partitioned tables, and a training step on them."""
    table = tf.get_variable("e", [20, 3])
    parts = [tf.get_variable(f"p{i}", [7 - (i > 0), 3]) for i in range(3)]
    ids = tf.placeholder(tf.int32, [None, 2])
    values = [
        tf.nn.embedding_lookup(table, ids),
        tf.nn.embedding_lookup(parts, ids, "mod"),
        tf.nn.embedding_lookup(parts, ids, "div"),
        tf.nn.embedding_lookup(table, ids, max_norm=0.5),
    ]
    places = [[0, 0], [0, 1], [1, 0]]
    sparse_ids = tf.SparseTensor(places, tf.constant([3, 5, 3], tf.int64), [2, 2])
    weights = tf.SparseTensor(places, [1.0, 2.0, 3.0], [2, 2])
    values += [
        tf.nn.embedding_lookup_sparse(table, sparse_ids, weight, combiner=combiner)
        for weight in (None, weights)
        for combiner in ("sum", "mean", "sqrtn")
    ]
    loss = tf.add_n([tf.reduce_sum(v**2) for v in values])
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    feeds = {ids: [[1, 2], [3, 18]]}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        results = list(session.run(values, feeds))
        session.run(step, feeds)
        return results + list(session.run([table, *parts]))


@_program
def random_numbers() -> list[Any]:
    """Random ops and initializers under a graph seed; two steps, other fetches."""
    values = [
        tf.random_uniform([3]),
        tf.random_normal([3], 1.0, 2.0, dtype=tf.float64),
        tf.truncated_normal([5]),
        tf.random_uniform([4], 1, 9, tf.int32, seed=5),
        tf.random_shuffle(tf.range(7)),
        tf.multinomial([[1.0, 2.0, 3.0]], 4),
        tf.random_crop(tf.reshape(tf.range(30), [5, 6]), [2, 2]),
        tf.random_uniform([2], dtype=tf.float16),
        tf.nn.dropout(tf.ones([6]), rate=0.3),
        tf.nn.swish(tf.constant([1.0, 2.0])),
        tf.initializers.orthogonal()([3, 2]),
        tf.initializers.orthogonal()([2, 3]),
        tf.initializers.identity()([3, 2]),
        tf.initializers.uniform_unit_scaling()([4, 4]),
        tf.initializers.lecun_normal()([3, 3, 2, 2]),
        tf.initializers.glorot_normal()([3, 2]),
        tf.initializers.constant([1, 2, 3])([3]),
        tf.random_gamma([4], [0.3, 1.0, 5.0]),
        tf.random_poisson([0.5, 4.0, 11.0, 300.0], [6]),
    ]
    with tf.Session() as session:
        first, second = session.run(values), session.run(values)
        return [*first, *second, session.run(values[0])]


@_program
def statistics() -> list[Any]:
    """Moments, normalization for inference, dense layers, in_top_k."""
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.placeholder(tf.float32, [None, 1])
    sufficient = tf.nn.sufficient_statistics(x, [0], shift=tf.constant(0.5))
    ones, zeros = tf.ones([3]), tf.zeros([3])
    values = [
        *sufficient,
        *tf.nn.normalize_moments(*sufficient),
        *tf.nn.weighted_moments(x, [0], w),
        *tf.nn.moments(x, [0, 1], keep_dims=True),
        tf.nn.in_top_k(x, tf.constant([0, 1]), 1),
        tf.nn.xw_plus_b(x, tf.ones([3, 2]), tf.ones([2])),
        tf.nn.relu_layer(x, tf.ones([3, 2]), tf.ones([2])),
        tf.nn.batch_norm_with_global_normalization(
            x[:, None, None], zeros, ones, ones, ones, 1e-2, True
        ),
        tf.nn.fused_batch_norm(
            tf.reshape(x, [-1, 1, 1, 3]), ones, zeros, zeros, ones, is_training=False
        )[0],
    ]
    grads = tf.gradients(values[-1], x)
    return _fetch(values + grads, {x: _normal(0, 2, 3), w: [[1], [2]]})
