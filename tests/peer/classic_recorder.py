"""Records graphs with classic control flow as TensorFlow 1.15's client makes them.

`.venv-tf115/bin/python tests/peer/classic_recorder.py FILE` writes the GraphDefs, the
feeds, and the values that TensorFlow gives. Python 3.7.
"""

import base64
import json
import sys
import zlib

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import control_flow_ops


def cond_simple():
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.placeholder(tf.float32, [2], name="y")
    return [tf.cond(x > 0, lambda: y * 2.0, lambda: y - 1.0, name="c")], [
        {"x:0": 1.0, "y:0": [1, 2]},
        {"x:0": -1.0, "y:0": [1, 2]},
    ]


def cond_nested():
    x = tf.placeholder(tf.float32, [], name="x")

    def inner():
        return tf.cond(x > 5.0, lambda: x * 10.0, lambda: x + 100.0)

    a, b = tf.cond(
        x > 0, lambda: (inner(), tf.constant(3)), lambda: (x - 1.0, tf.constant(4))
    )
    g = tf.gradients(a, x)[0]
    return [a, b, g], [{"x:0": 1.0}, {"x:0": -1.0}, {"x:0": 7.0}]


def cond_const_and_outer():
    p = tf.placeholder(tf.bool, [], name="p")
    return [
        tf.cond(p, lambda: tf.constant([1, 2]), lambda: tf.constant([3, 4])),
        tf.cond(p, lambda: p, lambda: tf.logical_not(p)),
    ], [{"p:0": True}, {"p:0": False}]


def while_simple():
    n = tf.placeholder(tf.int32, [], name="n")
    i, s = tf.while_loop(
        lambda i, s: i < n,
        lambda i, s: (i + 1, s + tf.cast(i, tf.float32) * 2.0),
        [0, 0.0],
    )
    return [i, s], [{"n:0": 5}, {"n:0": 0}, {"n:0": 100}]


def while_grow():
    n = tf.placeholder(tf.int32, [], name="n")
    i, s = tf.while_loop(
        lambda i, s: i < n,
        lambda i, s: (i + 1, tf.concat([s, [i]], 0)),
        [0, tf.constant([7])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    return [i, s], [{"n:0": 5}, {"n:0": 0}]


def while_nested():
    n = tf.placeholder(tf.int32, [], name="n")
    w = tf.placeholder(tf.float32, [2, 2], name="w")

    def body(i, x):
        _, y = tf.while_loop(
            lambda j, y: j < i,
            lambda j, y: (j + 1, tf.matmul(y, w) + tf.cast(i, tf.float32)),
            [0, x],
        )
        return i + 1, y * 0.5

    i, x = tf.while_loop(lambda i, x: i < n, body, [0, tf.eye(2)])
    g = tf.gradients(x, w)[0]
    return [i, x, g], [
        {"n:0": 4, "w:0": np.array([[0.5, 0.2], [0.1, 0.9]], np.float32)},
        {"n:0": 0, "w:0": np.eye(2)},
    ]


def while_grad():
    n = tf.placeholder(tf.int32, [], name="n")
    a = tf.placeholder(tf.float32, [], name="a")
    _i, s = tf.while_loop(
        lambda i, s: i < n, lambda i, s: (i + 1, s * a + tf.sin(s)), [0, a]
    )
    g = tf.gradients(s, a)[0]
    return [s, g], [{"n:0": 5, "a:0": 0.7}, {"n:0": 0, "a:0": 0.7}]


def while_cond_inside():
    n = tf.placeholder(tf.int32, [], name="n")
    a = tf.placeholder(tf.float32, [], name="a")
    _i, s = tf.while_loop(
        lambda i, s: i < n,
        lambda i, s: (
            i + 1,
            tf.cond(tf.equal(i % 2, 0), lambda: s * a, lambda: s + 1.0),
        ),
        [0, a],
    )
    g = tf.gradients(s, a)[0]
    return [s, g], [{"n:0": 5, "a:0": 0.7}, {"n:0": 0, "a:0": 0.7}]


def while_in_cond():
    n = tf.placeholder(tf.int32, [], name="n")
    a = tf.placeholder(tf.float32, [], name="a")
    r = tf.cond(
        a > 0,
        lambda: tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * a), [0, a])[
            1
        ],
        lambda: a * 3.0,
    )
    g = tf.gradients(r, a)[0]
    return [r, g], [{"n:0": 5, "a:0": 0.7}, {"n:0": 5, "a:0": -0.7}]


def while_tensor_array():
    n = tf.placeholder(tf.int32, [], name="n")
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    xs = tf.TensorArray(tf.float32, size=n).unstack(x)
    ys = tf.TensorArray(tf.float32, size=n)
    _, ys, h = tf.while_loop(
        lambda i, ys, h: i < n,
        lambda i, ys, h: (lambda z: (i + 1, ys.write(i, z), tf.tanh(z)))(
            h + xs.read(i)
        ),
        [0, ys, tf.zeros([3])],
    )
    y = ys.stack()
    g = tf.gradients(tf.reduce_sum(y * y) + tf.reduce_sum(h), x)[0]
    return [y, h, g], [
        {"n:0": 3, "x:0": np.arange(9).reshape(3, 3) / 10.0},
        {"n:0": 1, "x:0": [[1, 2, 3]]},
    ]


def dynamic_rnn():
    x = tf.placeholder(tf.float32, [2, None, 3], name="x")
    with tf.variable_scope("r"):
        W = tf.get_variable(
            "W",
            [7, 16],
            initializer=tf.constant_initializer(
                np.linspace(-0.5, 0.5, 7 * 16).reshape(7, 16)
            ),
        )
        b = tf.get_variable("b", [16], initializer=tf.zeros_initializer())
        xt = tf.transpose(x, [1, 0, 2])
        T = tf.shape(xt)[0]
        xs = tf.TensorArray(tf.float32, size=T).unstack(xt)
        ys = tf.TensorArray(tf.float32, size=T)

        def body(t, c, h, ys):
            z = tf.matmul(tf.concat([xs.read(t), h], 1), W) + b
            i, j, f, o = tf.split(z, 4, 1)
            c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
            h = tf.tanh(c) * tf.sigmoid(o)
            return t + 1, c, h, ys.write(t, h)

        _, _c, _h, ys = tf.while_loop(
            lambda t, *a: t < T,
            body,
            [0, tf.zeros([2, 4]), tf.zeros([2, 4]), ys],
            parallel_iterations=32,
        )
    y = ys.stack()
    loss = tf.reduce_sum(y * y)
    g = tf.gradients(loss, [W, b, x])
    with tf.control_dependencies(g):
        up = tf.group(tf.assign_sub(W, 0.1 * g[0]), tf.assign_sub(b, 0.1 * g[1]))
    tf.add_to_collection("init", tf.global_variables_initializer())
    with tf.control_dependencies([up]):
        after = tf.identity(W.read_value())
    return [loss, *g, after], [
        {"x:0": np.linspace(-1, 1, 24).reshape(2, 4, 3)},
        {"x:0": np.linspace(-1, 1, 6).reshape(2, 1, 3)},
    ]


def control_deps():
    p = tf.placeholder(tf.bool, [], name="p")
    v = tf.get_variable("v", initializer=1.0)
    tf.add_to_collection("init", tf.global_variables_initializer())

    def t():
        with tf.control_dependencies([tf.assign_add(v, 10.0)]):
            return tf.constant(1)

    def f():
        with tf.control_dependencies([tf.assign_sub(v, 1.0)]):
            return tf.constant(2)

    c = tf.cond(p, t, f)
    with tf.control_dependencies([c]):
        r = v.read_value()
    return [c, r], [{"p:0": True}, {"p:0": False}, {"p:0": True}]


def assert_guard():
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.control_dependencies([tf.Assert(x > 0, [x, "bad"])]):
        y = x * 2.0
    return [y], [{"x:0": 1.0}]


def case_op():
    x = tf.placeholder(tf.int32, [], name="x")
    r = tf.case(
        [(x < 1, lambda: tf.constant(10)), (x < 5, lambda: tf.constant(20))],
        default=lambda: x * 100,
        exclusive=False,
    )
    s = tf.case(
        [(x < 1, lambda: tf.constant(10)), (x > 5, lambda: tf.constant(20))],
        default=lambda: x * 100,
        exclusive=True,
    )
    return [r, s], [{"x:0": 0}, {"x:0": 3}, {"x:0": 9}]


def map_scan():
    x = tf.placeholder(tf.float32, [None], name="x")
    m = tf.map_fn(lambda e: e * e, x)
    sc = tf.scan(lambda a, e: a + e * a, x)
    f = tf.foldl(lambda a, e: a * 2 + e, x)
    g = tf.gradients([m, sc, f], x)[0]
    return [m, sc, f, g], [{"x:0": [1.0, 2.0, 3.0]}, {"x:0": [0.5]}]


def second_order():
    n = tf.placeholder(tf.int32, [], name="n")
    a = tf.placeholder(tf.float32, [], name="a")
    x = tf.cond(n > 2, lambda: a * a * a, lambda: tf.sin(a))
    g = tf.gradients(x, a)[0]
    h = tf.gradients(g, a)[0]
    return [x, g, h], [{"n:0": 5, "a:0": 0.7}, {"n:0": 0, "a:0": 0.7}]


def raw_switch_merge():
    c = control_flow_ops
    p = tf.placeholder(tf.bool, [], name="p")
    q = tf.placeholder(tf.bool, [], name="q")
    x = tf.placeholder(tf.float32, [], name="x")
    f, t = c.switch(x, p)
    f2, t2 = c.switch(t, q)
    m, _i = c.merge([f * 2.0, t2 + 5.0])
    m2, _i2 = c.merge([m, f2 - 1.0])
    return [m2], [
        {"p:0": True, "q:0": True, "x:0": 1.0},
        {"p:0": True, "q:0": False, "x:0": 1.0},
        {"p:0": False, "q:0": False, "x:0": 1.0},
    ]


def while_var_and_side_effects():
    n = tf.placeholder(tf.int32, [], name="n")
    v = tf.get_variable("v", initializer=1.0)
    tf.add_to_collection("init", tf.global_variables_initializer())

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 2.0)]):
            return i + 1

    i = tf.while_loop(lambda i: i < n, body, [0], parallel_iterations=1)
    with tf.control_dependencies([i]):
        r = v.read_value()
    return [i, r], [{"n:0": 5}, {"n:0": 0}]


def ref_in_cond():
    p = tf.placeholder(tf.bool, [], name="p")
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    tf.add_to_collection("init", tf.global_variables_initializer())
    r = tf.cond(p, lambda: tf.scatter_add(v, [0], [5.0]) + 0.0, lambda: tf.identity(v))
    return [r], [{"p:0": True}, {"p:0": False}, {"p:0": True}]


def resource_var_loop():
    n = tf.placeholder(tf.int32, [], name="n")
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    tf.add_to_collection("init", tf.global_variables_initializer())
    _i, s = tf.while_loop(
        lambda i, s: i < n,
        lambda i, s: (i + 1, s * v + tf.gather(v, [0])),
        [0, tf.ones([2])],
    )
    g = tf.gradients(s, v)[0]
    return [s, tf.convert_to_tensor(g)], [{"n:0": 3}, {"n:0": 0}]


def strings_loop():
    n = tf.placeholder(tf.int32, [], name="n")
    _i, s = tf.while_loop(
        lambda i, s: i < n,
        lambda i, s: (i + 1, tf.string_join([s, tf.as_string(i)])),
        [0, tf.constant(b"a")],
    )
    return [s], [{"n:0": 3}]


def max_iter():
    i = tf.while_loop(lambda i: i < 1000, lambda i: i + 1, [0], maximum_iterations=7)
    return [i]


def greedy_decode():
    emb = tf.constant(np.random.RandomState(0).randn(6, 4).astype("f"))
    W = tf.constant(np.random.RandomState(1).randn(4, 6).astype("f"))
    start = tf.placeholder(tf.int32, [3], name="start")
    T = 8

    def body(t, tok, h, done, out):
        h = tf.tanh(h + tf.gather(emb, tok))
        nxt = tf.argmax(tf.matmul(h, W), 1, output_type=tf.int32)
        nxt = tf.where(done, tf.zeros_like(nxt), nxt)
        return t + 1, nxt, h, tf.logical_or(done, tf.equal(nxt, 5)), out.write(t, nxt)

    t, _tok, h, _done, out = tf.while_loop(
        lambda t, tok, h, done, out: tf.logical_and(
            t < T, tf.logical_not(tf.reduce_all(done))
        ),
        body,
        [
            0,
            start,
            tf.zeros([3, 4]),
            tf.zeros([3], tf.bool),
            tf.TensorArray(tf.int32, size=0, dynamic_size=True),
        ],
    )
    return [t, out.stack(), h], [{"start:0": [0, 1, 2]}, {"start:0": [3, 4, 5]}]


def inner_grad_in_loop():
    a = tf.placeholder(tf.float32, [], name="a")

    def body(i, x):
        y = x * x * a
        return i + 1, x - 0.1 * tf.gradients(y, x)[0]

    _, x = tf.while_loop(lambda i, x: i < 4, body, [0, 1.0])
    return [x, tf.gradients(x, a)[0]], [{"a:0": 0.5}]


def _plain(value):
    value = np.asarray(value)
    if value.dtype == object or value.dtype.kind in "SU":
        return {"dtype": "string", "values": [s.decode() for s in value.ravel()]}
    return {
        "dtype": str(value.dtype),
        "shape": list(value.shape),
        "values": value.ravel().tolist(),
    }


def record(program):
    """The graph of a program and what it gives."""
    tf.reset_default_graph()
    made = program()
    fetches, feeds = made if isinstance(made, tuple) else (made, [{}])
    names = [t.name for t in fetches]
    graph_def = tf.get_default_graph().as_graph_def()
    init = [op.name for op in tf.get_collection("init")]
    runs = []
    with tf.Session() as sess:
        sess.run(init)
        for feed in feeds:
            values = sess.run(names, feed)
            runs.append(
                {
                    "feed": {k: np.asarray(v).tolist() for k, v in feed.items()},
                    "values": [_plain(v) for v in values],
                }
            )
    packed = zlib.compress(graph_def.SerializeToString(), 9)
    return {
        "graph": base64.b64encode(packed).decode(),
        "fetches": names,
        "init": init,
        "runs": runs,
    }


PROGRAMS = [
    cond_simple,
    cond_nested,
    cond_const_and_outer,
    while_simple,
    while_grow,
    while_nested,
    while_grad,
    while_cond_inside,
    while_in_cond,
    while_tensor_array,
    dynamic_rnn,
    control_deps,
    assert_guard,
    case_op,
    map_scan,
    second_order,
    raw_switch_merge,
    while_var_and_side_effects,
    ref_in_cond,
    resource_var_loop,
    strings_loop,
    max_iter,
    greedy_decode,
    inner_grad_in_loop,
]

if __name__ == "__main__":
    recorded = {p.__name__: record(p) for p in PROGRAMS}
    with open(sys.argv[1], "w") as file:
        json.dump(recorded, file, indent=0)
        file.write("\n")
