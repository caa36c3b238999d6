"""Programs for a cluster of a ps and a worker: loops and branches over tasks."""

from running import PS, WORKER


def cond(tf, target):
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])
        y = tf.cond(x > 0, lambda: x * 2, lambda: x - 1)
    with tf.Session(target) as sess:
        return [sess.run(y, {x: 3.0}), sess.run(y, {x: -3.0})]


def while_loop_with_gradient(tf, target):
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])
        _, total = tf.while_loop(
            lambda i, total: i < 5,
            lambda i, total: (i + 1, total * x + 1.0),
            [tf.constant(0), tf.constant(1.0)],
        )
        gradient = tf.gradients(total, x)[0]
    with tf.Session(target) as sess:
        return sess.run([total, gradient], {x: 1.5})


def cond_v2(tf, target):
    tf.enable_control_flow_v2()
    try:
        return cond(tf, target)
    finally:
        tf.disable_control_flow_v2()


def while_v2(tf, target):
    tf.enable_control_flow_v2()
    try:
        return while_loop_with_gradient(tf, target)
    finally:
        tf.disable_control_flow_v2()


def tensor_array(tf, target):
    with tf.device(WORKER):
        array = tf.TensorArray(tf.float32, 4)
        _, array = tf.while_loop(
            lambda i, _: i < 4,
            lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32) ** 2)),
            [tf.constant(0), array],
        )
        stacked = array.stack()
    with tf.device(PS):
        total = tf.reduce_sum(stacked)
    with tf.Session(target) as sess:
        return sess.run([stacked, total])


def _v2(program):
    """The same program with the control flow of TensorFlow 2."""

    def run(tf, target):
        tf.enable_control_flow_v2()
        try:
            return program(tf, target)
        finally:
            tf.disable_control_flow_v2()

    run.__name__ = program.__name__ + "_v2"
    return run


def loop_over_tasks(tf, target):
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])

        def body(i, total):
            with tf.device(PS):
                on_ps = total * x
            return i + 1, on_ps + 1.0

        i, total = tf.while_loop(
            lambda i, total: i < 5, body, [tf.constant(0), tf.constant(1.0)]
        )
        gradient = tf.gradients(total, x)[0]
    with tf.Session(target) as sess:
        return [sess.run([i, total, gradient], {x: v}) for v in (1.5, -0.5)]


def loop_whose_test_is_elsewhere(tf, target):
    def test(i, total):
        with tf.device(PS):
            return total < 100.0

    with tf.device(WORKER):
        start = tf.placeholder(tf.float32, [])
        loop = tf.while_loop(
            test, lambda i, total: (i + 1, total * 2.0), [tf.constant(0), start]
        )
    with tf.Session(target) as sess:
        return [sess.run(loop, {start: v}) for v in (1.0, 1000.0)]


def nested_loops_over_tasks(tf, target):
    def inner_body(j, total):
        with tf.device(PS):
            on_ps = total + tf.cast(j, tf.float32)
        return j + 1, on_ps * 1.5

    def body(i, total):
        _, inner = tf.while_loop(
            lambda j, _: j < i, inner_body, [tf.constant(0), total]
        )
        return i + 1, inner + 1.0

    with tf.device(WORKER):
        n = tf.placeholder(tf.int32, [])
        _, total = tf.while_loop(
            lambda i, _: i < n, body, [tf.constant(0), tf.constant(1.0)]
        )
    with tf.Session(target) as sess:
        return [sess.run(total, {n: v}) for v in (0, 1, 4)]


def cond_over_tasks(tf, target):
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [2])

        def on_ps():
            with tf.device(PS):
                return tf.reduce_sum(x) * 2.0

        y = tf.cond(x[0] > 0, on_ps, lambda: x[1] - 1.0)
        gradient = tf.gradients(y, x)[0]
    with tf.Session(target) as sess:
        return [sess.run([y, gradient], {x: v}) for v in ([1.0, 2.0], [-1.0, 2.0])]


def cond_in_loop_over_tasks(tf, target):
    def even(total):
        with tf.device(PS):
            return total * 2.0

    def odd(total):
        return total + 1.0

    with tf.device(WORKER):
        n = tf.placeholder(tf.int32, [])
        _, total = tf.while_loop(
            lambda i, _: i < n,
            lambda i, total: (
                i + 1,
                tf.cond(tf.equal(i % 2, 0), lambda: even(total), lambda: odd(total)),
            ),
            [tf.constant(0), tf.constant(1.0)],
        )
    with tf.Session(target) as sess:
        return [sess.run(total, {n: v}) for v in (0, 1, 5)]


def loop_in_branch_over_tasks(tf, target):
    def loop(x):
        def body(i, total):
            with tf.device(PS):
                return i + 1, total * 2.0

        return tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), x])[1]

    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])
        y = tf.cond(x > 0, lambda: loop(x), lambda: x)
    with tf.Session(target) as sess:
        return [sess.run(y, {x: 3.0}), sess.run(y, {x: -3.0})]


def _updates_in_loop(tf, target, use_resource):
    with tf.device(PS):
        v = tf.get_variable(
            "counted", [], use_resource=use_resource, initializer=tf.zeros_initializer()
        )
    with tf.device(WORKER):
        n = tf.placeholder(tf.int32, [])

        def body(i):
            with tf.control_dependencies([v.assign_add(2.0)]):
                return i + 1

        i = tf.while_loop(lambda i: i < n, body, [tf.constant(0)])
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        return [(sess.run(i, {n: m}), sess.run(v)) for m in (0, 1, 4)]


def updates_in_loop(tf, target):
    return _updates_in_loop(tf, target, False)


def updates_in_loop_of_resource(tf, target):
    return _updates_in_loop(tf, target, True)


def update_in_branch(tf, target):
    with tf.device(PS):
        v = tf.get_variable(
            "branched", [], use_resource=True, initializer=tf.zeros_initializer()
        )
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])

        def update():
            with tf.control_dependencies([v.assign_add(x)]):
                return x * 2.0

        y = tf.cond(x > 0, update, lambda: x)
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        return [(sess.run(y, {x: a}), sess.run(v)) for a in (1.0, -5.0, 2.0)]


def tensor_array_over_tasks(tf, target):
    with tf.device(WORKER):
        array = tf.TensorArray(tf.float32, 4)

        def body(i, array):
            with tf.device(PS):
                value = tf.cast(i, tf.float32) ** 2
            return i + 1, array.write(i, value)

        _, array = tf.while_loop(lambda i, _: i < 4, body, [tf.constant(0), array])
        stacked = array.stack()
    with tf.Session(target) as sess:
        return sess.run(stacked)


def error_in_an_iteration(tf, target):
    def body(i, total):
        with tf.device(PS):
            return i + 1, total + tf.gather([1.0, 2.0, 3.0], i)

    with tf.device(WORKER):
        n = tf.placeholder(tf.int32, [])
        _, total = tf.while_loop(
            lambda i, _: i < n, body, [tf.constant(0), tf.constant(0.0)]
        )
    with tf.Session(target) as sess:
        caught = False
        try:
            sess.run(total, {n: 9})
        except tf.errors.InvalidArgumentError:
            caught = True
        return [caught, sess.run(total, {n: 3})]


def endless_loop_over_tasks(tf, target):
    def body(i):
        with tf.device(PS):
            return i * 1

    with tf.device(WORKER):
        i = tf.while_loop(lambda i: i < 1, body, [tf.constant(0)])
    with tf.Session(target) as sess:
        return sess.run(i, options=tf.RunOptions(timeout_in_ms=500))


loop_over_tasks_v2 = _v2(loop_over_tasks)
nested_loops_over_tasks_v2 = _v2(nested_loops_over_tasks)
cond_over_tasks_v2 = _v2(cond_over_tasks)
cond_in_loop_over_tasks_v2 = _v2(cond_in_loop_over_tasks)
updates_in_loop_v2 = _v2(updates_in_loop_of_resource)
update_in_branch_v2 = _v2(update_in_branch)
error_in_an_iteration_v2 = _v2(error_in_an_iteration)
