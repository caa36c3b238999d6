"""Programs with control flow whose values were recorded from TensorFlow 1.15."""

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
def cond1(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    p = tf.placeholder(tf.bool, [], name="p")
    y = tf.cond(p, lambda: tf.sin(x) * x, lambda: x * 2.0)
    return [y, *tf.gradients(y * y, x)]


@program
def cond_struct(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    p = tf.placeholder(tf.bool, [], name="p")
    y = tf.cond(
        p,
        lambda: (x, {"b": x * 2.0, "a": [x * 3.0]}),
        lambda: (x * 4.0, {"b": x, "a": [x]}),
        name="cc",
    )
    z = tf.cond(tf.logical_not(p), lambda: [tf.constant(1)], lambda: [tf.constant(2)])
    return [y[0], y[1]["b"], y[1]["a"][0], z]


@program
def while1(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [], name="x")
    i, y = tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * x), [0, 1.0])
    g = tf.gradients(y, x)[0]
    return [i, y, g]


@program
def while_cond(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [2], name="x")

    def body(i, y):
        return (
            i + 1,
            tf.cond(tf.equal(i % 2, 0), lambda: y * x, lambda: y + tf.sin(y)),
        )

    i, y = tf.while_loop(lambda i, y: i < 4, body, [0, x])
    g = tf.gradients(y, x)[0]
    return [i, y, g]


@program
def cond_while(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [2], name="x")
    p = tf.placeholder(tf.bool, [], name="p")

    def t():
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]

    y = tf.cond(p, t, lambda: x * x)
    g = tf.gradients(y, x)[0]
    return [y, g]


@program
def while_shape(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [1, 2], name="x")
    i, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, tf.concat([y, y], 0)),
        [tf.constant(0), x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )
    return [i, y, *tf.gradients(y, x)]


@program
def while_vars(tf: Any) -> list[Any]:
    w = tf.get_variable(
        "w", [], initializer=tf.constant_initializer(1.5), use_resource=True
    )
    v = tf.get_variable("v", [], initializer=tf.constant_initializer(0.5))
    i, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w + v), [0, 2.0])
    return [i, y, *tf.gradients(y, [w, v])]


@program
def while_gather(tf: Any) -> list[Any]:
    w = tf.get_variable("w", [5, 2], initializer=tf.ones_initializer())
    i, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, y * tf.gather(w, [i, 1])),
        [0, tf.ones([2, 2])],
    )
    return [i, y] + [tf.convert_to_tensor(g) for g in tf.gradients(y, [w])]


@program
def cond_vars(tf: Any) -> list[Any]:
    w = tf.get_variable(
        "w", [], initializer=tf.constant_initializer(1.5), use_resource=True
    )
    v = tf.get_variable("v", [], initializer=tf.constant_initializer(0.5))
    p = tf.placeholder(tf.bool, [], name="p")
    y = tf.cond(p, lambda: w * v, lambda: w * w * 3.0)
    return [y, *tf.gradients(y, [w, v])]


@program
def case1(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [], name="x")
    return [
        tf.case(
            [(x < 0.0, lambda: -x), (x > 10.0, lambda: x * 2.0)],
            default=lambda: x + 100.0,
            exclusive=True,
        )
    ]


@program
def case2(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [], name="x")
    return [tf.case([(x < 0.0, lambda: -x), (x > 0.5, lambda: x * 2.0)])]


@program
def swcase(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [], name="x")
    k = tf.placeholder(tf.int32, [], name="k")
    y = tf.switch_case(k, [lambda: x * 2.0, lambda: tf.exp(x) * x, lambda: -x])
    return [y, *tf.gradients(y, x)]


@program
def mapfn(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [4, 2], name="x")
    y = tf.map_fn(lambda t: t * t + tf.reduce_sum(t), x)
    return [y, *tf.gradients(y, x)]


@program
def scan1(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [4, 2], name="x")
    y = tf.scan(lambda a, t: a * t, x)
    z = tf.scan(lambda a, t: a * t, x, initializer=tf.ones([2]), reverse=True)
    f = tf.foldl(lambda a, t: a * t, x)
    h = tf.foldr(lambda a, t: a - t, x)
    return [y, z, f, h, *tf.gradients([y, z, f, h], x)]


@program
def hess(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    return tf.hessians(tf.reduce_sum(x * x * x * tf.sin(x)), x)


@program
def cond_sparse(tf: Any) -> list[Any]:
    w = tf.placeholder(tf.float32, [4, 2], name="w")
    p = tf.placeholder(tf.bool, [], name="p")
    y = tf.cond(p, lambda: tf.gather(w, [1, 2]), lambda: tf.gather(w, [0, 3]) * 2.0)
    return [y] + [tf.convert_to_tensor(g) for g in tf.gradients(y, w)]


@program
def var_in_cond(tf: Any) -> list[Any]:
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.float32, [3], name="x")

    def t():
        with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
            return x * w

    def f():
        with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
            return x + w

    y = tf.cond(p, t, f)
    return [y, *tf.gradients(y, tf.trainable_variables())]


@program
def var_in_while(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")

    def b(i, y):
        w = tf.get_variable(
            "w", [3], initializer=tf.ones_initializer(), use_resource=True
        )
        return (i + 1, y * w + x)

    _i, y = tf.while_loop(lambda i, y: i < 3, b, [0, x])
    return [y, *tf.gradients(y, [*tf.trainable_variables(), x])]


@program
def opt_cond(tf: Any) -> list[Any]:
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(
        tf.cond(p, lambda: tf.matmul(x, w), lambda: tf.matmul(x * x, w)) ** 2
    )
    op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([op]):
        return [tf.identity(loss), loss]


@program
def loop_assign(tf: Any) -> list[Any]:
    v = tf.get_variable("v", [], initializer=tf.constant_initializer(0.5))
    w = tf.get_variable(
        "w", [], initializer=tf.constant_initializer(0.5), use_resource=True
    )

    def b(i):
        with tf.control_dependencies([tf.assign_add(v, 2.0), w.assign_add(1.0)]):
            return i + 1

    i = tf.while_loop(lambda i: i < 4, b, [0])
    with tf.control_dependencies([i]):
        return [
            tf.identity(v.read_value() if hasattr(v, "read_value") else v),
            w.read_value(),
        ]


@program
def ta(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [4, 2], name="x")
    t = tf.TensorArray(tf.float32, 4)
    u = tf.TensorArray(tf.float32, 4).unstack(x)

    def b(i, acc, t):
        r = u.read(i)
        acc = acc + r * r
        return (i + 1, acc, t.write(i, acc * tf.sin(r)))

    _i, acc, t = tf.while_loop(lambda i, a, t: i < 4, b, [0, tf.zeros([2]), t])
    y = t.stack()
    return [acc, y, *tf.gradients([y, acc], x), *tf.gradients(y, x)]


@program
def ta_twice(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    y = tf.map_fn(lambda a: tf.reduce_sum(a * a), x)
    z = tf.map_fn(lambda a: tf.map_fn(lambda b: b * b * b, a), x)
    g1 = tf.gradients(y, x)
    g2 = tf.gradients(z, x)
    g3 = tf.gradients([y * 2.0], x)
    return [y, z, *g1, *g2, *g3]


@program
def grad_in_body(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [2], name="x")

    def b(i, y):
        z = y * y * y
        return (i + 1, tf.gradients(z, y)[0] * 0.1)

    _i, y = tf.while_loop(lambda i, y: i < 3, b, [0, x])
    return [y, *tf.gradients(y, x)]


@program
def zero_iter(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [2], name="x")
    _i, y = tf.while_loop(
        lambda i, y: i < 0, lambda i, y: (i + 1, y * tf.sin(x)), [0, x]
    )
    return [y, *tf.gradients(y, x)]


@program
def backprop_false(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [2], name="x")
    _i, y = tf.while_loop(
        lambda i, y: i < 2, lambda i, y: (i + 1, y * x), [0, x], back_prop=False
    )
    return [y, y + x, *tf.gradients(y + x, x)]


@program
def strings(tf: Any) -> list[Any]:
    p = tf.placeholder(tf.bool, [], name="p")
    y = tf.cond(p, lambda: tf.constant("ab"), lambda: tf.constant("c"))
    return [tf.cast(tf.equal(y, "ab"), tf.float32)]


@program
def bools(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    b, y = tf.while_loop(
        lambda b, y: b,
        lambda b, y: (tf.reduce_sum(y) < 10.0, y * 2.0),
        [tf.constant(True), x],
    )
    return [tf.cast(b, tf.float32), y, *tf.gradients(y, x)]


@program
def dyn_shape(tf: Any) -> list[Any]:
    n = tf.placeholder(tf.int32, [], name="n")
    x = tf.placeholder(tf.float32, [None], name="x")
    _i, y = tf.while_loop(
        lambda i, y: i < n,
        lambda i, y: (i + 1, tf.concat([y, x[:1] * y[-1:]], 0)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    return [y, *tf.gradients(y, x)]


@program
def second_cond(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    p = tf.placeholder(tf.bool, [], name="p")
    y = tf.cond(p, lambda: tf.sin(x) * tf.exp(x) * x, lambda: x**3)
    g = tf.gradients(y, x)[0]
    g2 = tf.gradients(g, x)[0]
    g3 = tf.gradients(g2, x)[0]
    return [y, g, g2, g3]


@program
def two_grads(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    z = tf.placeholder(tf.float32, [3], name="z")
    a, b = tf.while_loop(
        lambda a, b: tf.reduce_sum(a) < 6.0,
        lambda a, b: (a * 1.5 + z, b * a + x),
        [x, z],
    )
    alone = [*tf.gradients(a, [x, z]), *tf.gradients(b, [x, z])]
    return [a, b, *alone, *tf.gradients([a, b], [x, z])]


@program
def stop_in_loop(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    _i, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, y * tf.stop_gradient(y) + x), [0, x]
    )
    return [y, *tf.gradients(y, x)]


@program
def unused_outs(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [3], name="x")
    _i, a, _b = tf.while_loop(
        lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * x, tf.sin(b)), [0, x, x]
    )
    return [a, *tf.gradients(a, x)]


@program
def int_cond_grad(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [4, 2], name="x")
    i = tf.placeholder(tf.int32, [2], name="i")
    p = tf.placeholder(tf.bool, [], name="p")
    y = tf.cond(p, lambda: tf.gather(x, i) * 2.0, lambda: x[:2])
    return [y] + [tf.convert_to_tensor(g) for g in tf.gradients(y, x)]


@program
def sparse_cond(tf: Any) -> list[Any]:
    p = tf.placeholder(tf.bool, [], name="p")
    s = tf.cond(
        p,
        lambda: tf.SparseTensor([[0, 1]], [1.0], [3, 3]),
        lambda: tf.SparseTensor([[0, 2], [1, 1]], [2.0, 3.0], [3, 3]),
    )
    return [s.values, s.indices]


@program
def slices_loop(tf: Any) -> list[Any]:
    s = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 1]), tf.constant([5, 3]))
    _i, t = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (
            i + 1,
            tf.IndexedSlices(s.values * 2.0, s.indices + 1, s.dense_shape),
        ),
        [0, s],
    )
    return [t.values, t.indices]


@program
def named_nt(tf: Any) -> list[Any]:
    import collections

    NT = collections.namedtuple("NT", "a b")
    x = tf.placeholder(tf.float32, [3], name="x")
    _i, n = tf.while_loop(
        lambda i, n: i < 3,
        lambda i, n: (i + 1, NT(n.a * 2.0, n.b + n.a)),
        [0, NT(x, x)],
    )
    return [n.a, n.b, *tf.gradients(n.b, x)]


@program
def accum_const(tf: Any) -> list[Any]:
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    _i, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, tf.matmul(y, x) + tf.reduce_sum(y, axis=0)),
        [0, x],
    )
    return [y, *tf.gradients(tf.reduce_sum(y), x)]


@program
def resource_gather_loop(tf: Any) -> list[Any]:
    w = tf.get_variable(
        "w", [5, 2], initializer=tf.ones_initializer(), use_resource=True
    )
    _i, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, y * tf.gather(w, [i, 1])),
        [0, tf.ones([2, 2])],
    )
    return [y] + [tf.convert_to_tensor(g) for g in tf.gradients(y, w)]
