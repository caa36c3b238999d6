"""Functions in graphs: Defun, and tf.function as a v1 program calls it."""

import numpy as np
from graphs.recurrent import weights


def defun(tf, *types, **options):
    """TensorFlow's Defun, which has no public name in 2.x."""
    from tensorflow.python.framework import function

    return function.Defun(*types, **options)


def defun_simple(tf):
    @defun(tf, tf.float32, tf.float32, func_name="Affine")
    def affine(x, y):
        return x * y + 1.0, tf.reduce_sum(x)

    x = tf.placeholder(tf.float32, [2], name="x")
    a, b = affine(x, x * 2.0)
    c, _ = affine(a, tf.ones([2]))
    return [a, b, c], [{"x:0": [1.0, 2.0]}]


def defun_gradient(tf):
    """The gradient of a call is a SymbolicGradient node."""

    @defun(tf, tf.float32, tf.float32)
    def inner(x, y):
        return tf.sin(x) * y

    @defun(tf, tf.float32, tf.float32)
    def outer(x, y):
        return inner(x, y) + inner(y, x * x)

    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.placeholder(tf.float32, [2], name="y")
    z = outer(x, y)
    grads = tf.gradients(z * z, [x, y])
    return [z, *grads], [{"x:0": [0.5, 1.5], "y:0": [2.0, -1.0]}]


def defun_with_its_gradient(tf):
    @defun(tf, tf.float32, tf.float32)
    def cube_grad(x, dy):
        return dy * x * 100.0

    @defun(tf, tf.float32, grad_func=cube_grad)
    def cube(x):
        return x * x * x

    x = tf.placeholder(tf.float32, [2], name="x")
    y = cube(x)
    return [y, *tf.gradients(y, x)], [{"x:0": [1.0, -2.0]}]


def defun_in_loop(tf):
    @defun(tf, tf.float32)
    def step(x):
        x.set_shape([2])
        return tf.tanh(x) * 1.5

    x = tf.placeholder(tf.float32, [2], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    _, y = tf.while_loop(
        lambda i, y: i < n,
        lambda i, y: (i + 1, step(y)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)],
    )
    z = tf.cond(n > 2, lambda: step(y), lambda: y)
    return [y, z], [{"x:0": [1.0, -2.0], "n:0": k} for k in (0, 3)]


def defun_with_state(tf):
    v = tf.get_variable("v", initializer=tf.constant(2.0), use_resource=True)

    @defun(tf, tf.float32)
    def add(x):
        with tf.control_dependencies([v.assign_add(x)]):
            return v.read_value() * 10.0

    x = tf.placeholder(tf.float32, [], name="x")
    y = add(x)
    with tf.control_dependencies([y]):
        after = v.read_value()
    return [y, after], [{"x:0": 1.0}, {"x:0": 3.0}]


def functional_from_python(tf):
    """If, While and For built by TensorFlow's functional_ops."""
    from tensorflow.python.ops import functional_ops

    @defun(tf, tf.float32)
    def double(x):
        return x * 2.0

    @defun(tf, tf.float32)
    def negative(x):
        return -x

    @defun(tf, tf.float32, tf.int32)
    def below(x, i):
        return tf.reduce_sum(x) < 100.0

    @defun(tf, tf.float32, tf.int32)
    def body(x, i):
        return x * 1.5 + tf.cast(i, tf.float32), i + 1

    @defun(tf, tf.int32, tf.float32)
    def for_body(i, x):
        return x + tf.cast(i, tf.float32)

    p = tf.placeholder(tf.bool, [], name="p")
    x = tf.placeholder(tf.float32, [2], name="x")
    chosen = functional_ops.If(p, [x], double, negative)
    looped = functional_ops.While([x, tf.constant(0)], below, body)
    counted = functional_ops.For(1, 10, 3, [x], for_body)
    return list(chosen) + list(looped) + list(counted), [
        {"p:0": True, "x:0": [1.0, 2.0]},
        {"p:0": False, "x:0": [60.0, 2.0]},
    ]


def function_calls(tf):
    """PartitionedCall, and gradients of it."""
    import tensorflow

    make = tensorflow.function

    @make
    def scale(x, y):
        return tf.nn.relu(x) * y, tf.reduce_sum(y)

    @make
    def twice(x):
        a, b = scale(x, x + 1.0)
        return a * b + scale(a, a)[0]

    x = tf.placeholder(tf.float32, [3], name="x")
    y = twice(x)
    g = tf.gradients(y, x)[0]
    return [y, g], [{"x:0": [1.0, -2.0, 0.5]}]


def function_with_control_flow(tf):
    """If, While and TensorLists in the body, and their gradient."""
    import tensorflow

    w = weights(tf, "w", [3, 3], use_resource=True)

    @tensorflow.function(autograph=False)
    def net(x, n):
        states = tf.TensorArray(tf.float32, size=n, element_shape=[2, 3])

        def body(i, h, states):
            h = tf.cond(
                tf.equal(i % 2, 0),
                lambda: tf.tanh(tf.matmul(h, w)),
                lambda: h * 0.5 + tf.reduce_mean(w),
            )
            return i + 1, h, states.write(i, h)

        _, h, states = tf.while_loop(lambda i, *r: i < n, body, [0, x, states])
        return h, states.stack()

    x = tf.placeholder(tf.float32, [2, 3], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    h, states = net(x, n)
    grads = tf.gradients(tf.reduce_sum(h) + tf.reduce_sum(states**2), [x, w])
    feeds = np.linspace(-1, 1, 6).reshape(2, 3)
    return [h, states, *grads], [{"x:0": feeds, "n:0": k} for k in (3, 1)]


def function_with_lists(tf):
    """TensorArrays of all uses in a function: lists that grow, concat, gather."""
    import tensorflow

    @tensorflow.function(autograph=False)
    def lists(x):
        grown = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
        _, grown = tf.while_loop(
            lambda i, a: i < tf.shape(x)[0],
            lambda i, a: (i + 1, a.write(i, x[i, : i + 1])),
            [0, grown],
        )
        rows = tf.TensorArray(
            tf.float32, tf.shape(x)[0], clear_after_read=False, element_shape=[3]
        )
        rows = rows.unstack(x * 2.0)
        some = rows.gather([1, 0])
        placed = tf.TensorArray(tf.float32, 4, element_shape=[3])
        placed = placed.scatter([2, 0], some)
        parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 1])
        return grown.concat(), rows.size(), placed.stack(), parts.concat(), rows.read(0)

    x = tf.placeholder(tf.float32, [2, 3], name="x")
    results = list(lists(x))
    grads = tf.gradients([tf.reduce_sum(results[i] ** 2) for i in (0, 2, 3, 4)], x)
    return results + grads, [{"x:0": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]}]


def gradient_override_and_custom(tf):
    @tf.custom_gradient
    def clipped(x):
        return tf.identity(x), lambda dy: tf.clip_by_value(dy, -0.5, 0.5)

    x = tf.placeholder(tf.float32, [2], name="x")
    y = clipped(x * 3.0) * tf.constant([10.0, 0.1])
    stopped = tf.stop_gradient(x) * x
    return [y, *tf.gradients([y, stopped], x)], [{"x:0": [1.0, 2.0]}]


# tf.function's lists need what 1.15 has behind a switch.
function_with_lists.not_in = ("1.15",)

PROGRAMS = [
    defun_simple,
    defun_gradient,
    defun_with_its_gradient,
    defun_in_loop,
    defun_with_state,
    functional_from_python,
    function_calls,
    function_with_control_flow,
    function_with_lists,
    gradient_override_and_custom,
]
