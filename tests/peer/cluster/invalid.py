"""Programs for a cluster of a ps and a worker: graphs that it refuses."""

import numpy as np
from running import PS, WORKER, error_of


def _far(tf):
    with tf.device("/job:worker/task:9"):
        return tf.constant(1) + 1, {}


def _absent_device(tf):
    with tf.device("/job:ps/task:0/device:GPU:0"):
        return tf.constant(1.0) * 2.0, {}


def _not_fed(tf):
    return tf.placeholder(tf.float32, [2]) + 1.0, {}


def _wrong_shape(tf):
    x = tf.placeholder(tf.float32, [2])
    return x * 2.0, {x: [1.0, 2.0, 3.0]}


def _absent_name(tf):
    return "absent:0", {}


def _other_device_of_variable(tf):
    with tf.device(PS):
        v = tf.Variable(1.0)
    with tf.device(WORKER):
        return tf.raw_ops.AssignAdd(ref=v._ref(), value=1.0), {}


def _impossible_colocation(tf):
    with tf.device(PS):
        a = tf.constant(1.0, name="a")
    with tf.device(WORKER):
        b = tf.constant(1.0, name="b")
    with tf.colocate_with(a), tf.colocate_with(b):
        return a + b, {}


def _products(tf):
    with tf.device(PS):
        a = tf.placeholder(tf.float32, None)
        return tf.matmul(a, a), {a: np.ones([2, 3])}


def _reshaped(tf):
    with tf.device(WORKER):
        a = tf.placeholder(tf.float32, None)
        return tf.reshape(a, [7]), {a: np.ones(3)}


def _asserted(tf):
    with tf.device(PS):
        a = tf.placeholder(tf.float32, None)
        return tf.Assert(tf.reduce_all(a > 5.0), [a]), {a: np.ones(3)}


def _divided(tf):
    with tf.device(WORKER):
        a = tf.placeholder(tf.int32, None)
        return a // (a - a), {a: [1, 2]}


def _wrong_dtype_of_feed(tf):
    a = tf.placeholder(tf.int32, [])
    return a + 1, {a: "text"}


def _fed_constant(tf):
    with tf.device(PS):
        a = tf.constant(2.0)
    return a * 2.0, {a: 5.0}


def _asked_of_another_graph(tf):
    with tf.Graph().as_default():
        return tf.constant(1), {}


def invalid_graphs(tf, target):
    found = []
    for build in (
        *(_far, _absent_device, _not_fed, _wrong_shape, _absent_name, _products),
        *(_other_device_of_variable, _impossible_colocation, _reshaped, _asserted),
        *(_divided, _wrong_dtype_of_feed, _fed_constant, _asked_of_another_graph),
    ):
        with tf.Graph().as_default(), tf.Session(target) as sess:
            fetch, feed = build(tf)
            error = error_of(tf, lambda f=fetch, d=feed: sess.run(f, d))
            with tf.device(WORKER):
                after = tf.constant(1) + 1
            later = error_of(tf, lambda f=after: sess.run(f))
            found.append([build.__name__, error, later])
    return found


def file_errors(tf, target):
    with tf.device(PS):
        content = tf.read_file("/nowhere/at/all")
    with tf.device(WORKER):
        image = tf.image.decode_png(b"no image")
        number = tf.string_to_number("x")
        parsed = tf.parse_single_example(
            b"abc", {"a": tf.FixedLenFeature([], tf.int64)}
        )
    with tf.Session(target) as sess:
        return [
            error_of(tf, lambda t=t: sess.run(t))
            for t in (content, image, number, parsed["a"])
        ]
