"""Programs whose gradient graphs were recorded from TensorFlow 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Program = Callable[[Any], list[Any]]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Adds a program to the table."""
    PROGRAMS[function.__name__] = function
    return function


@program
def chain(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.sin(x) + tf.cos(x) * 2.0
    return tf.gradients(y, x)


@program
def shared(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3, 4], name="x")
    y = x * x
    z = tf.exp(y) + y
    w = z * x
    return tf.gradients([w, z], [x, y])


@program
def bcast(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3, 1], name="x")
    b = tf.placeholder(tf.float32, [4], name="b")
    u = tf.placeholder(tf.float32, [None, 4], name="u")
    y = (x + b) * u / (b - 2.0)
    y = tf.maximum(y, b)
    y = tf.pow(y, 2.0)
    y = tf.squared_difference(y, u)
    return tf.gradients(y, [x, b, u])


@program
def matmul(tf: Any) -> list[Any]:
    a = tf.placeholder(tf.float32, [3, 5], name="a")
    b = tf.placeholder(tf.float32, [5, 4], name="b")
    y = tf.matmul(a, b)
    y2 = tf.matmul(a, b, transpose_a=False)
    y3 = tf.matmul(b, a, transpose_a=True, transpose_b=True)
    return tf.gradients([y, y2, y3], [a, b])


@program
def reduce(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3, 4], name="x")
    u = tf.placeholder(tf.float32, [None, 4], name="u")
    y = (
        tf.reduce_mean(x)
        + tf.reduce_sum(x, axis=1)[0]
        + tf.reduce_max(u)
        + tf.reduce_sum(tf.reduce_mean(u, axis=0, keepdims=True))
    )
    return tf.gradients(y, [x, u])


@program
def gather(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [10, 4], name="x")
    i = tf.placeholder(tf.int32, [5], name="i")
    y = tf.gather(x, i)
    z = tf.gather(x, i + 1)
    g = tf.gradients(tf.reduce_sum(y) + tf.reduce_sum(z), x)
    return [tf.convert_to_tensor(g[0])]


@program
def gather_dense(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [10, 4], name="x")
    i = tf.placeholder(tf.int32, [5], name="i")
    y = tf.gather(x, i)
    return tf.gradients(tf.reduce_sum(y) + tf.reduce_sum(x * x), x)


@program
def vars(tf: Any) -> list[Any]:
    w = tf.get_variable("w", [4, 3])
    b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    loss = tf.reduce_mean(tf.nn.relu(tf.matmul(x, w) + b))
    return tf.gradients(loss, [w, b])


@program
def rvars(tf: Any) -> list[Any]:
    w = tf.get_variable("w", [4, 3], use_resource=True)
    b = tf.get_variable("b", [3], initializer=tf.zeros_initializer(), use_resource=True)
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    loss = tf.reduce_mean(tf.nn.relu(tf.matmul(x, w) + b))
    return tf.gradients(loss, [w, b])


@program
def embed(tf: Any) -> list[Any]:
    e = tf.get_variable("e", [10, 3], use_resource=True)
    e2 = tf.get_variable("e2", [10, 3])
    i = tf.placeholder(tf.int64, [None], name="i")
    y = tf.nn.embedding_lookup(e, i) + tf.nn.embedding_lookup(e2, i)
    g = tf.gradients(tf.reduce_sum(y), [e, e2])
    return [g[0].values, g[0].indices, g[1].values]


@program
def tree(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    y = [tf.sin(x), tf.cos(x), tf.exp(x)]
    return tf.gradients(y, x, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)


@program
def accn(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    y = [tf.sin(x), tf.cos(x), tf.exp(x)]
    return tf.gradients(
        y, x, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N
    )


@program
def gate(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    z = tf.placeholder(tf.float32, [3], name="z")
    y = tf.sin(x) * z + x / z
    return tf.gradients(y, [x, z], gate_gradients=True)


@program
def colo(tf: Any) -> list[Any]:
    with tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [3], name="x")
    z = tf.placeholder(tf.float32, [3], name="z")
    y = tf.sin(x) * z + x / z
    return tf.gradients(y, [x, z], colocate_gradients_with_ops=True)


@program
def gradys(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.sin(x)
    return tf.gradients([y, y * 2.0], x, grad_ys=[tf.ones([3]), None], name="gg")


@program
def stop(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [], name="x")
    a = x * 2.0
    b = a * x + tf.stop_gradient(a)
    return tf.gradients(b, [x, a], stop_gradients=[a])


@program
def unconn(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [2], name="x")
    z = tf.placeholder(tf.float32, [2, None], name="z")
    g = tf.gradients(
        x * 2.0, [x, z], unconnected_gradients=tf.UnconnectedGradients.ZERO
    )
    return g


@program
def second(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [], name="x")
    y = x * x * x + tf.sin(x)
    g = tf.gradients(y, x)[0]
    g2 = tf.gradients(g, x)[0]
    return [g, g2]


@program
def multi_out(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [6, 4], name="x")
    a, _b = tf.split(x, 2)
    u = tf.unstack(x, axis=1)
    return tf.gradients([tf.sin(a), u[2]], x)


@program
def slices(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [6, 4], name="x")
    y = x[1:3, 2] * tf.concat([x[0], x[1]], 0)[:2]
    y = tf.stack([y, y])
    y = tf.reshape(y, [-1])
    y = tf.expand_dims(y, 0)
    y = tf.transpose(y)
    y = tf.tile(y, [2, 2])
    y = tf.pad(y, [[1, 1], [0, 0]])
    return tf.gradients(y, x)


@program
def ints(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.int32, [2], name="x")
    y = tf.cast(x, tf.float32)
    return tf.gradients(y * 2.0, [x, y])


@program
def xent(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [6, 4], name="x")
    loss = tf.placeholder(tf.int64, [6], name="loss")
    o = tf.placeholder(tf.float32, [6, 4], name="o")
    a = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=loss, logits=x)
    b = tf.nn.softmax_cross_entropy_with_logits(labels=o, logits=x)
    c = tf.nn.sigmoid_cross_entropy_with_logits(labels=o, logits=x)
    return tf.gradients([a, b, c], [x])


@program
def conv(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
    w = tf.placeholder(tf.float32, [3, 3, 3, 5], name="w")
    b = tf.placeholder(tf.float32, [5], name="b")
    y = tf.nn.bias_add(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), b)
    y = tf.nn.relu(y)
    y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    y = tf.nn.avg_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    y = tf.nn.l2_loss(y) + tf.reduce_sum(tf.nn.softmax(tf.reshape(y, [2, -1])))
    return tf.gradients(y, [x, w, b])


@program
def selects(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [4], name="x")
    y = tf.where(x > 0, x * x, -x)
    y = tf.clip_by_value(y, 0.1, 2.0)
    y = tf.minimum(y, tf.abs(x))
    y = tf.sigmoid(y) + tf.tanh(y) + tf.log(y) + tf.sqrt(y)
    return tf.gradients(y, x)


@program
def cplx(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.complex64, [4], name="x")
    y = tf.real(x * tf.conj(x)) + tf.imag(x) + tf.abs(x)
    return tf.gradients(y, x)


@program
def scoped(tf: Any) -> list[Any]:
    with tf.name_scope("net"):
        x = tf.placeholder(tf.float32, [4], name="x")
        y = tf.sin(x)
        with tf.name_scope("opt"):
            g = tf.gradients(y, x)
    return g + tf.gradients(y, x)
