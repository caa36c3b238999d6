"""Small steps: what a call of `run` costs beside the arithmetic."""

import numpy as np

from benchmarks.workloads.table import Table

table = Table()


@table.step("null step (tf.no_op)", target=0.15)
def null_step(tf):
    op = tf.no_op()
    with tf.Session() as sess:
        yield lambda: sess.run(op)


def scalar_add(tf):
    x = tf.placeholder(tf.float32, [])
    return x, x + 1.0


@table.step("one add, scalar feed and fetch", target=0.10)
def one_add(tf):
    x, y = scalar_add(tf)
    with tf.Session() as sess:
        yield lambda: sess.run(y, {x: 1.0})


@table.step("one add through make_callable", target=0.08)
def one_add_callable(tf):
    x, y = scalar_add(tf)
    with tf.Session() as sess:
        call = sess.make_callable(y, feed_list=[x])
        yield lambda: call(1.0)


@table.step("assign_add on a scalar variable", target=0.20)
def assign_add(tf):
    variable = tf.Variable(0.0)
    update = tf.assign_add(variable, 1.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run(update)


@table.step("chain of 100 scalar sines, feed and fetch", target=0.30)
def chain_of_sines(tf):
    x = tf.placeholder(tf.float32, [])
    y = x
    for _ in range(100):
        y = tf.sin(y)
    with tf.Session() as sess:
        yield lambda: sess.run(y, {x: 1.0})


@table.step("chain of 10,000 scalar ops (sin, add)", target=1.0)
def long_chain(tf):
    x = tf.placeholder(tf.float32, [])
    y = x
    for _ in range(5000):
        y = tf.sin(y) + x
    with tf.Session() as sess:
        yield lambda: sess.run(y, {x: 1.0})


@table.step("60 elementwise ops on an 8x64 tensor", target=0.5)
def elementwise(tf):
    x = tf.placeholder(tf.float32, [8, 64])
    y = x
    for _ in range(12):
        y = tf.maximum(tf.tanh(y) * x + 0.5, -tf.sigmoid(y))
    with tf.Session() as sess:
        feed = np.random.RandomState(0).randn(8, 64).astype(np.float32)
        yield lambda: sess.run(y, {x: feed})


@table.step("while_loop, 100 scalar iterations", target=0.25)
def while_loop(tf):
    x = tf.placeholder(tf.float32, [])
    loop = tf.while_loop(lambda i, s: i < 100, lambda i, s: (i + 1, s + x), [0, 0.0])
    with tf.Session() as sess:
        yield lambda: sess.run(loop, {x: 1.5})


@table.step("AUC and accuracy of 512 predictions, streaming", target=0.5)
def streaming_metrics(tf):
    random = np.random.RandomState(0)
    scores, labels = (
        tf.placeholder(tf.float32, [None]),
        tf.placeholder(tf.int64, [None]),
    )
    _, area = tf.metrics.auc(labels, scores)
    _, right = tf.metrics.accuracy(labels, tf.cast(scores > 0.5, tf.int64))
    feed = {scores: random.rand(512), labels: random.randint(0, 2, 512)}
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        yield lambda: sess.run([area, right], feed)
