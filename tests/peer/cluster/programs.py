"""Programs for a cluster of a ps and a worker, run by any of the systems' clients.

Usage: python programs.py SYSTEM TARGET

SYSTEM is `tensorloom`, `1.15` or `2.21`. Prints one JSON object a program: its name and
its result, or the class of its error. Runs on Python 3.7 too.
"""

import json
import os
import sys
import tempfile

import numpy as np

PS = "/job:ps/task:0"
WORKER = "/job:worker/task:0"


def load(system):
    """The module that a program calls `tf`."""
    if system == "tensorloom":
        import tensorloom as tf
    elif system == "1.15":
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import tensorflow as tf

        tf.logging.set_verbosity("ERROR")
    else:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
    return tf


def variable_on_ps(tf, target):
    with tf.device(PS):
        v = tf.Variable([1.0, 2.0, 3.0])
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [3])
        y = v * x
        update = tf.assign_add(v, x)
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        return [
            sess.run(y, {x: [1, 2, 3]}),
            sess.run(update, {x: [1, 1, 1]}),
            sess.run(v),
        ]


def resource_variable(tf, target):
    with tf.device(PS):
        v = tf.get_variable(
            "r", [2], use_resource=True, initializer=tf.ones_initializer()
        )
    with tf.device(WORKER):
        y = tf.exp(v)
    update = v.assign_add([1.0, 2.0])
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(update)
        return [sess.run(y), sess.run(v)]


def _train(tf, target, optimizer):
    data = np.random.RandomState(0).rand(32, 4).astype(np.float32)
    with tf.device(PS):
        w = tf.get_variable("w", [4, 3], initializer=tf.constant_initializer(0.1))
        b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
        step = tf.train.get_or_create_global_step()
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [None, 4])
        hidden = tf.nn.relu(tf.matmul(x, w) + b)
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(hidden, 1) - 1.0))
        train = optimizer(tf).minimize(loss, global_step=step)
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], {x: data})[0] for _ in range(20)]
        return [losses[0], losses[-1], sess.run(step), sess.run(w)]


def gradient_descent(tf, target):
    return _train(tf, target, lambda tf: tf.train.GradientDescentOptimizer(0.1))


def adam(tf, target):
    return _train(tf, target, lambda tf: tf.train.AdamOptimizer(0.05))


def momentum(tf, target):
    return _train(tf, target, lambda tf: tf.train.MomentumOptimizer(0.05, 0.9))


def adagrad(tf, target):
    return _train(tf, target, lambda tf: tf.train.AdagradOptimizer(0.1))


def sparse_updates(tf, target):
    with tf.device(PS):
        table = tf.Variable(tf.ones([6, 2]))
    with tf.device(WORKER):
        ids = tf.placeholder(tf.int32, [None])
        loss = tf.reduce_sum(tf.square(tf.gather(table, ids)))
        train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, {ids: [0, 2, 2]})
        return sess.run(table)


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


def queue_on_ps(tf, target):
    with tf.device(PS):
        queue = tf.FIFOQueue(
            10, [tf.float32, tf.string], shapes=[[2], []], shared_name="queue_on_ps"
        )
    x = tf.placeholder(tf.float32, [2])
    put = queue.enqueue([x, "text"])
    take = queue.dequeue()
    with tf.Session(target) as sess:
        for i in range(3):
            sess.run(put, {x: [i, i + 1]})
        return [sess.run(take) for _ in range(3)] + [sess.run(queue.size())]


def closed_queue(tf, target):
    queue = tf.FIFOQueue(2, tf.float32)
    with tf.Session(target) as sess:
        sess.run(queue.close())
        return sess.run(queue.dequeue())


def partial_run(tf, target):
    a = tf.placeholder(tf.float32, [])
    b = tf.placeholder(tf.float32, [])
    with tf.device(PS):
        first = a + 1
    with tf.device(WORKER):
        second = first * b
    with tf.Session(target) as sess:
        handle = sess.partial_run_setup([first, second], [a, b])
        value = sess.partial_run(handle, first, {a: 1.0})
        return [value, sess.partial_run(handle, second, {b: value * 10})]


def strings(tf, target):
    with tf.device(PS):
        a = tf.string_join([tf.constant(["a", "b"]), tf.constant(["c", "d"])])
    with tf.device(WORKER):
        b = tf.string_join([a, a])
    with tf.Session(target) as sess:
        return sess.run(b)


def dtypes(tf, target):
    values = []
    for name in ("float64", "int8", "int64", "uint8", "complex64", "float16"):
        with tf.device(PS):
            a = tf.identity(tf.constant([0, 1, 2], name))
        with tf.device(WORKER):
            values.append(tf.concat([a, a], 0))
    with tf.Session(target) as sess:
        return sess.run(values)


def scalars_and_empties(tf, target):
    with tf.device(PS):
        a, b = tf.identity(tf.constant(7)), tf.identity(tf.zeros([0, 3]))
    with tf.device(WORKER):
        c, d = a + 1, tf.concat([b, b], 0)
    with tf.Session(target) as sess:
        return sess.run([c, d])


def control_dependency(tf, target):
    with tf.device(PS):
        v = tf.Variable(1.0)
    with tf.device(WORKER):
        slow = tf.reduce_sum(tf.ones([100, 100]))
    with tf.device(PS), tf.control_dependencies([slow]):
        add = tf.assign_add(v, 2.0)
    with tf.device(PS), tf.control_dependencies([add]):
        value = tf.identity(v.read_value())
    with tf.device(WORKER):
        result = value * 10
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        return sess.run(result)


def many_tensors(tf, target):
    with tf.device(PS):
        sources = [tf.identity(tf.fill([4], float(i))) for i in range(20)]
    with tf.device(WORKER):
        middle = [source + 1 for source in sources]
    with tf.device(PS):
        total = tf.add_n([m * 2 for m in middle])
    with tf.Session(target) as sess:
        return sess.run(total)


def large_tensor(tf, target):
    with tf.device(PS):
        a = tf.ones([2000, 1000]) * tf.Variable(3.0)
    with tf.device(WORKER):
        b = tf.reduce_sum(a, 1)
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(b)[:3]


def kernel_error(tf, target):
    with tf.device(WORKER):
        a = tf.check_numerics(tf.constant([1.0, float("nan")]), "boom")
    with tf.device(PS):
        b = a + 1
    with tf.Session(target) as sess:
        return sess.run(b)


def error_then_step(tf, target):
    with tf.device(PS):
        x = tf.placeholder(tf.int32, [])
        y = tf.gather(tf.constant([1, 2, 3]), x)
    with tf.device(WORKER):
        z = y * 2
    with tf.Session(target) as sess:
        caught = False
        try:
            sess.run(z, {x: 7})
        except tf.errors.InvalidArgumentError:
            caught = True
        return [caught, sess.run(z, {x: 1})]


def uninitialized(tf, target):
    with tf.device(PS):
        v = tf.Variable(1.0, name="never_initialized")
    with tf.Session(target) as sess:
        return sess.run(v + 1)


def unknown_device(tf, target):
    with tf.device("/job:nobody/task:0"):
        x = tf.constant(1.0)
    with tf.Session(target) as sess:
        return sess.run(x)


def missing_feed(tf, target):
    x = tf.placeholder(tf.float32, [])
    with tf.device(PS):
        y = x + 1
    with tf.Session(target) as sess:
        return sess.run(y)


def timeout(tf, target):
    queue = tf.FIFOQueue(2, tf.float32)
    taken = queue.dequeue()
    with tf.Session(target) as sess:
        return sess.run(taken, options=tf.RunOptions(timeout_in_ms=300))


def shared_between_sessions(tf, target):
    with tf.device(PS):
        v = tf.Variable(1.0, name="shared_between")
    add = tf.assign_add(v, 1.0)
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        sess.run(add)
    with tf.Session(target) as sess:
        return sess.run([v, tf.report_uninitialized_variables([v])])


def containers_and_reset(tf, target):
    with tf.container("box"), tf.device(PS):
        inside = tf.Variable(1.0, name="inside_box")
    with tf.device(PS):
        outside = tf.Variable(2.0, name="outside_box")
    with tf.Session(target) as sess:
        sess.run([inside.initializer, outside.initializer])
    tf.Session.reset(target, ["box"])
    with tf.Session(target) as sess:
        known = [tf.is_variable_initialized(v) for v in (inside, outside)]
        return sess.run(known)


def graph_grows(tf, target):
    with tf.device(PS):
        a = tf.Variable(2.0)
    with tf.Session(target) as sess:
        sess.run(a.initializer)
        first = sess.run(a * 3)
        with tf.device(WORKER):
            b = a * a
        return [first, sess.run(b), sess.run(tf.sqrt(b))]


def list_devices(tf, target):
    with tf.Session(target) as sess:
        names = [d.name for d in sess.list_devices()]
    return sorted(n for n in names if "XLA" not in n)


def save_and_restore(tf, target):
    with tf.device(PS):
        v = tf.Variable([1.0, 2.0], name="saved")
    saver = tf.train.Saver()
    with tempfile.TemporaryDirectory() as folder, tf.Session(target) as sess:
        sess.run(v.initializer)
        path = saver.save(sess, os.path.join(folder, "model"))
        sess.run(v.assign([5.0, 6.0]))
        saver.restore(sess, path)
        return sess.run(v)


def seeded_random(tf, target):
    with tf.device(PS):
        a = tf.random_normal([3], seed=7)
    with tf.device(WORKER):
        b = a + 0.0
    with tf.Session(target) as sess:
        return [sess.run(b), sess.run(b)]


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


def callables(tf, target):
    x = tf.placeholder(tf.float32, [])
    with tf.device(PS):
        y = x * 2
    with tf.Session(target) as sess:
        run = sess.make_callable(y, [x])
        return [run(1.0), run(4.0)]


def run_metadata(tf, target):
    with tf.device(PS):
        a = tf.constant(2.0) * tf.Variable(3.0)
    with tf.device(WORKER):
        b = a + 1
    metadata = tf.RunMetadata()
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        value = sess.run(b, options=options, run_metadata=metadata)
    devices = {d.device for d in metadata.step_stats.dev_stats}
    return [value, sorted(d for d in devices if d.startswith("/job:ps"))]


def soft_placement(tf, target):
    with tf.device("/job:ps/task:0/device:GPU:0"):
        a = tf.constant(2.0) + tf.constant(1.0)
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(target, config=config) as sess:
        return sess.run(a)


def isolated_session(tf, target):
    with tf.device(PS):
        v = tf.Variable(1.0, name="isolated")
    with tf.Session(target) as sess:
        sess.run(v.initializer)
    config = tf.ConfigProto(isolate_session_state=True)
    with tf.Session(target, config=config) as sess:
        return sess.run(tf.is_variable_initialized(v))


def feed_of_inner_tensor(tf, target):
    with tf.device(PS):
        a = tf.constant(2.0) * 3
    with tf.device(WORKER):
        b = a + 1
    with tf.Session(target) as sess:
        return [sess.run(b), sess.run(b, {a: 100.0})]


def one_feed_for_both(tf, target):
    x = tf.placeholder(tf.float32, [2])
    with tf.device(PS):
        a = x + 1
    with tf.device(WORKER):
        b = x * 2
    with tf.Session(target) as sess:
        return sess.run([a, b], {x: [1, 2]})


def partitioned_variables(tf, target):
    device = tf.train.replica_device_setter(ps_tasks=1, worker_device=WORKER)
    with tf.device(device):
        w = tf.get_variable(
            "parts",
            [5, 2],
            initializer=tf.constant_initializer(0.5),
            partitioner=tf.fixed_size_partitioner(2),
        )
        x = tf.placeholder(tf.float32, [None, 5])
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    data = np.random.RandomState(0).rand(8, 5).astype(np.float32)
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], {x: data})[0] for _ in range(5)]
        places = [v.device for v in tf.global_variables()]
        return [losses, places, sess.run(tf.convert_to_tensor(w))]


def partitioned_embeddings(tf, target):
    device = tf.train.replica_device_setter(ps_tasks=1, worker_device=WORKER)
    with tf.device(device):
        table = tf.get_variable(
            "table",
            [6, 2],
            initializer=tf.ones_initializer(),
            partitioner=tf.fixed_size_partitioner(2),
        )
        ids = tf.placeholder(tf.int64, [None])
        rows = tf.nn.embedding_lookup(table, ids)
        train = tf.train.AdagradOptimizer(0.5).minimize(tf.reduce_sum(rows))
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, {ids: [0, 4, 4, 5]})
        return [sess.run(tf.convert_to_tensor(table)), sess.run(rows, {ids: [4, 1]})]


def sparse_updates_of_optimizers(tf, target):
    results = []
    for name, optimizer in (
        ("adam", tf.train.AdamOptimizer(0.1)),
        ("momentum", tf.train.MomentumOptimizer(0.1, 0.9)),
        ("ftrl", tf.train.FtrlOptimizer(0.1)),
        ("rmsprop", tf.train.RMSPropOptimizer(0.1)),
    ):
        with tf.device(PS):
            table = tf.get_variable(name, [4, 2], initializer=tf.ones_initializer())
        with tf.device(WORKER):
            loss = tf.reduce_sum(tf.square(tf.gather(table, [3, 0, 3])))
            train = optimizer.minimize(loss)
        with tf.Session(target) as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run(train)
            results.append(sess.run(table))
    return results


def _synchronous(tf, target, loss_of):
    device = tf.train.replica_device_setter(ps_tasks=1, worker_device=WORKER)
    with tf.device(device):
        w = tf.get_variable("w", [4, 1], initializer=tf.ones_initializer())
        step = tf.train.get_or_create_global_step()
        x = tf.placeholder(tf.float32, [None, 4])
        # One replica gives both of an update's gradients, one after the other.
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(0.1), 2, 1
        )
        train = optimizer.minimize(loss_of(tf, x, w), global_step=step)
        runner = optimizer.get_chief_queue_runner()
        tokens = optimizer.get_init_tokens_op(1)
    found = []
    coordinator = tf.train.Coordinator()
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(optimizer.chief_init_op)
        threads = runner.create_threads(sess, coordinator, daemon=True, start=True)
        sess.run(tokens)
        for i in range(6):
            sess.run(train, {x: np.full([2, 4], i + 1.0)})
            if i % 2:
                found.append(sess.run([step, w]))
        coordinator.request_stop()
    for thread in threads:
        thread.join(10)
    return found


def sync_replicas(tf, target):
    return _synchronous(tf, target, lambda tf, x, w: tf.reduce_mean(tf.matmul(x, w)))


def sync_replicas_sparse(tf, target):
    return _synchronous(
        tf,
        target,
        lambda tf, x, w: tf.reduce_mean(x) * tf.reduce_sum(tf.gather(w, [2, 0])),
    )


def in_graph_replication(tf, target):
    with tf.device(PS):
        w = tf.get_variable("w", [4, 1], initializer=tf.ones_initializer())
        step = tf.train.get_or_create_global_step()
    x = tf.placeholder(tf.float32, [6, 4])
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    gradients = []
    for index, part in enumerate(tf.split(x, 2)):
        with tf.device((WORKER, PS)[index]):
            loss = tf.reduce_mean(tf.square(tf.matmul(part, w) - 1.0))
            gradients.append(optimizer.compute_gradients(loss, [w])[0][0])
    with tf.device(PS):
        mean = tf.add_n(gradients) / 2.0
        train = optimizer.apply_gradients([(mean, w)], global_step=step)
    data = np.random.RandomState(0).rand(6, 4).astype(np.float32)
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], {x: data})[0] for _ in range(4)]
        return [losses, sess.run([w, step])]


def sharded_saver(tf, target):
    with tf.device(PS):
        a = tf.Variable([1.0, 2.0], name="a")
    with tf.device(WORKER):
        b = tf.Variable([[3]], name="b")
    saver = tf.train.Saver(sharded=True)
    with tempfile.TemporaryDirectory() as folder, tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, os.path.join(folder, "model"), 3)
        files = sorted(os.listdir(folder))
        sess.run([a.assign([0.0, 0.0]), b.assign([[0]])])
        saver.restore(sess, path)
        reader = tf.train.NewCheckpointReader(path)
        kept = [reader.get_tensor("a"), reader.get_tensor("b")]
        return [files, sess.run([a, b]), kept]


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


PROGRAMS = [
    value
    for value in list(globals().values())
    if callable(value) and getattr(value, "__module__", "") == __name__
]
PROGRAMS = [p for p in PROGRAMS if p.__name__ != "load" and p.__name__[0] != "_"]


def plain(value):
    """A result as JSON can say it."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (np.ndarray, np.generic)):
        if np.iscomplexobj(value):
            return plain([value.real, value.imag])
        if value.dtype == object:
            return plain(value.tolist())
        if value.dtype.kind == "f":
            return np.asarray(value, np.float64).tolist()
        return value.tolist()
    return value


def outcome(program, tf, target):
    """What a program gives: its result, or the class of its error."""
    tf.Session.reset(target)  # variables are shared by name, across programs too
    tf.reset_default_graph()
    tf.set_random_seed(1)
    try:
        return {"result": plain(program(tf, target))}
    except tf.errors.OpError as error:
        return {"error": type(error).__name__}
    except Exception as error:  # a defect of the program or the system
        return {"failure": f"{type(error).__name__}: {error}"}


def main(programs):
    """Runs all programs."""
    system, target = sys.argv[1:]
    tf = load(system)
    for program in programs:
        found = outcome(program, tf, target)
        found["name"] = program.__name__
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(PROGRAMS)
