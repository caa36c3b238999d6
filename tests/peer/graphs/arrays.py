"""TensorArrays, map_fn and their kin, conds and loops in each other."""

import numpy as np
from graphs.recurrent import weights


def scatter_gather_concat_split(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    order = tf.placeholder(tf.int32, [None], name="order")
    array = tf.TensorArray(
        tf.float32, tf.shape(x)[0], infer_shape=False, clear_after_read=False
    )
    array = array.scatter(order, x)
    gathered = array.gather(tf.range(tf.shape(order)[0])[::-1])
    pieces = tf.TensorArray(tf.float32, 3, infer_shape=False)
    pieces = pieces.split(x, [1, 0, tf.shape(x)[0] - 1])
    joined = pieces.concat()
    total = tf.reduce_sum(gathered * gathered * 0.5) + tf.reduce_sum(joined**3)
    return [array.stack(), gathered, joined, array.size(), *tf.gradients(total, x)], [
        {"x:0": [[1, 2], [3, 4], [5, 6]], "order:0": [2, 0, 1]}
    ]


def array_written_in_cond(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    array = tf.TensorArray(tf.float32, tf.shape(x)[0])

    def body(i, total, array):
        element = x[i]
        array, total = tf.cond(
            element > 0,
            lambda: (array.write(i, element * 2.0), total + element),
            lambda: (array.write(i, total * element), total * 0.5),
        )
        return i + 1, total, array

    _, total, array = tf.while_loop(
        lambda i, *rest: i < tf.shape(x)[0], body, [0, 1.0, array]
    )
    stacked = array.stack()
    grads = tf.gradients(tf.reduce_sum(stacked) * total, x)
    return [stacked, total, *grads], [{"x:0": [1.0, -2.0, 3.0]}, {"x:0": [-0.5]}]


def nested_map(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = weights(tf, "w", [3])
    inner = tf.map_fn(lambda row: tf.map_fn(lambda e: e * e * e, row) * w, x)
    pair, index = tf.map_fn(
        lambda e: (e[0] * 2.0, e[1] + 1),
        (x, tf.range(tf.shape(x)[0])),
        dtype=(tf.float32, tf.int32),
        parallel_iterations=3,
    )
    grads = tf.gradients(tf.reduce_sum(inner * pair), [x, w])
    return [inner, pair, index, *grads], [{"x:0": np.arange(6).reshape(2, 3) / 4.0}]


def folds_and_scans(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    left = tf.foldl(lambda a, e: a * 0.5 + e, x)
    right = tf.foldr(lambda a, e: tf.sin(a) + e, x, initializer=tf.ones([2]))
    backwards = tf.scan(lambda a, e: a * e + 1.0, x, reverse=True)
    pairs = tf.scan(
        lambda a, e: (a[0] + e[0], a[1] * e[1]),
        (x, x + 1.0),
        initializer=(tf.zeros([2]), tf.ones([2])),
        swap_memory=True,
    )
    y = tf.reduce_sum(left * right) + tf.reduce_sum(backwards) + tf.reduce_sum(pairs[1])
    grads = tf.gradients(y, x)
    return [left, right, backwards, pairs[0], pairs[1], *grads], [
        {"x:0": [[1, 2], [0.5, -1], [3, 0.25]]}
    ]


def loops_three_deep(tf):
    n = tf.placeholder(tf.int32, [], name="n")
    a = tf.placeholder(tf.float32, [2], name="a")

    def innermost(k, z):
        return k + 1, z * a

    def inner(j, y):
        _, z = tf.while_loop(lambda k, z: k <= j, innermost, [0, y])
        return j + 1, tf.cond(tf.equal(j % 2, 0), lambda: z + y, lambda: z * 0.5)

    def outer(i, x):
        _, y = tf.while_loop(lambda j, y: j < i, inner, [0, x])
        return i + 1, tf.tanh(y) + a

    _, x = tf.while_loop(lambda i, x: i < n, outer, [0, a])
    return [x, *tf.gradients(x, a)], [
        {"n:0": 3, "a:0": [0.5, -0.8]},
        {"n:0": 0, "a:0": [0.5, -0.8]},
    ]


def conds_in_conds(tf):
    p = tf.placeholder(tf.bool, [], name="p")
    q = tf.placeholder(tf.bool, [], name="q")
    x = tf.placeholder(tf.float32, [2], name="x")

    def deep():
        return tf.cond(
            q,
            lambda: tf.while_loop(
                lambda s: tf.reduce_sum(s) < 50.0, lambda s: s * 1.5, [x]
            ),
            lambda: tf.exp(x),
        )

    y, z = tf.cond(p, lambda: (deep(), x * 2.0), lambda: (x, deep()))
    g = tf.gradients(y * z, x)[0]
    feeds = [(a, b) for a in (True, False) for b in (True, False)]
    return [y, z, g], [{"p:0": a, "q:0": b, "x:0": [1.0, 2.0]} for a, b in feeds]


def cases(tf):
    i = tf.placeholder(tf.int32, [], name="i")
    x = tf.placeholder(tf.float32, [], name="x")
    by_test = tf.case(
        [(tf.less(i, 1), lambda: x * 2.0), (tf.less(i, 3), lambda: tf.exp(x))],
        default=lambda: -x,
    )
    switched = tf.switch_case(i, [lambda: x, lambda: x * x, lambda: tf.sin(x)])
    grads = tf.gradients(by_test, x)
    return [by_test, switched, *grads], [
        {"i:0": k, "x:0": 0.5} for k in (0, 1, 2, 5, -1)
    ]


def sparse_and_growing_loop_vars(tf):
    n = tf.placeholder(tf.int32, [], name="n")
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])

    def body(i, s, grown):
        s = tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape)
        grown = tf.concat([grown, tf.fill([1, 2], tf.cast(i, tf.float32))], 0)
        return i + 1, s, grown

    _, s, grown = tf.while_loop(
        lambda i, *rest: i < n,
        body,
        [0, sparse, tf.zeros([0, 2])],
        shape_invariants=[
            tf.TensorShape([]),
            tf.TensorShape([None]),
            tf.TensorShape([None, 2]),
        ],
    )
    dense = tf.sparse_tensor_to_dense(s)
    return [dense, s.values, grown], [{"n:0": 3}, {"n:0": 0}]


def embedding_in_loop(tf):
    """IndexedSlices as the gradient of what a loop reads from outside."""
    words = tf.placeholder(tf.int32, [None, 2], name="words")
    table = weights(tf, "table", [5, 3])

    def body(i, total):
        return i + 1, total * 0.5 + tf.gather(table, words[i]) ** 2

    _, total = tf.while_loop(
        lambda i, total: i < tf.shape(words)[0], body, [0, tf.zeros([2, 3])]
    )
    grad = tf.convert_to_tensor(tf.gradients(total, table)[0])
    return [total, grad], [{"words:0": [[1, 4], [0, 1], [4, 4]]}]


def state_in_loop(tf):
    n = tf.placeholder(tf.int32, [], name="n")
    v = tf.get_variable("v", initializer=tf.constant([1.0, 2.0, 3.0]))
    r = tf.get_variable("r", initializer=tf.constant(5.0), use_resource=True)

    def body(i):
        added = [tf.scatter_add(v, [i % 3], [10.0]), tf.assign_add(r, 0.5).op]
        checked = tf.Assert(i < 100, [i, "too far"])
        with tf.control_dependencies([*added, checked]):
            return [i + 1]

    i = tf.while_loop(lambda i: i < n, body, [0], parallel_iterations=1)
    with tf.control_dependencies([i]):
        return [tf.identity(i), v.read_value(), r.read_value()], [
            {"n:0": 4},
            {"n:0": 0},
            {"n:0": 1},
        ]


def raw_primitives(tf):
    """Switch and Merge by hand, with values that are dead on some ways."""
    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.float32, [2], name="x")
    off, on = tf.raw_ops.Switch(data=x, pred=p)
    off2, on2 = tf.raw_ops.Switch(data=x * 3.0, pred=tf.logical_not(p))
    merged, index = tf.raw_ops.Merge(inputs=[off + 1.0, on * 2.0])
    other, _ = tf.raw_ops.Merge(inputs=[on2 - on2, off2 + off2])
    return [merged, index, other], [
        {"p:0": True, "x:0": [1.0, 2.0]},
        {"p:0": False, "x:0": [1.0, 2.0]},
    ]


PROGRAMS = [
    scatter_gather_concat_split,
    array_written_in_cond,
    nested_map,
    folds_and_scans,
    loops_three_deep,
    conds_in_conds,
    cases,
    sparse_and_growing_loop_vars,
    embedding_in_loop,
    state_in_loop,
    raw_primitives,
]
