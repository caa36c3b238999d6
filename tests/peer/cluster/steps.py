"""Programs for a cluster of a ps and a worker: steps, feeds, fetches, errors."""

import numpy as np
from running import PS, WORKER


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


def quantized_dtypes(tf, target):
    values = []
    for name in ("int8", "uint8", "int16", "uint16", "int32"):
        base, dtype = getattr(tf, name), getattr(tf, "q" + name)
        fed = np.array([1, 2, 100], name).view(dtype.as_numpy_dtype)
        x = tf.placeholder(dtype, [3])
        with tf.device(PS):
            a = tf.bitcast(tf.constant([3, 4, 5], base), dtype)
            b = tf.identity(x)
        with tf.device(WORKER):
            c, d = tf.identity(a), tf.identity(b)
        with tf.device(PS):
            e, f = tf.bitcast(c, base), tf.bitcast(d, base)
        with tf.Session(target) as sess:
            values.append(sess.run([a, b, c, d, e, f], {x: fed}))
            handle = sess.partial_run_setup([d, f], [x])
            values.append(sess.partial_run(handle, [d, f], {x: fed}))
    return values


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


def seeded_random(tf, target):
    with tf.device(PS):
        a = tf.random_normal([3], seed=7)
    with tf.device(WORKER):
        b = a + 0.0
    with tf.Session(target) as sess:
        return [sess.run(b), sess.run(b)]


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
