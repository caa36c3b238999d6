"""Programs marked to be compiled, once they are: here, and by TensorFlow's XLA."""

import numpy as np

from benchmarks.clusters import system_of
from benchmarks.workloads.table import Table

table = Table()


def _compiled(tf, computation, *arrays):
    """Yields a step of a computation, once there is code for it."""
    inputs = [tf.placeholder(tf.float32, array.shape) for array in arrays]
    (result,) = tf.xla.experimental.compile(computation, inputs)
    feed = {tensor: arrays[i] for i, tensor in enumerate(inputs)}
    with tf.Session() as session:
        session.run(result, feed)
        if system_of(tf) == "tensorloom":
            from tensorloom.worker.compiled import background

            background.wait()
        yield lambda: session.run(result, feed)


@table.step("xla.compile: 60 arithmetic ops on 2048x1024", target=1.0)
def arithmetic(tf):
    def computation(x):
        y = x
        for _ in range(15):
            y = tf.maximum(y * x + 0.5, -y)
        return y

    yield from _compiled(tf, computation, _draws(2048, 1024))


@table.step("xla.compile: convolution, activation, pooling, 64x28x28", target=1.0)
def pooling(tf):
    def computation(x, kernel, bias):
        y = tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME")
        y = tf.tanh(tf.nn.bias_add(y, bias)) * 2.0
        return tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID") + 1.0

    arrays = _draws(64, 28, 28, 8), _draws(3, 3, 8, 16), _draws(16)
    yield from _compiled(tf, computation, *arrays)


def _draws(*shape):
    return np.random.RandomState(0).randn(*shape).astype(np.float32)
