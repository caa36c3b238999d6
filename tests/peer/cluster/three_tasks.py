"""Programs for a cluster of a ps and two workers, of which one has the master."""

import numpy as np
from running import OTHER, PS, WORKER, error_of


def one_tensor_to_two_tasks(tf, target):
    """Steps of one session send the same tensors to one worker or the other."""
    with tf.device(PS):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        first, second = tf.split(tf.concat([v, v * 3], 0), 2)
        text = tf.constant(["a", "bc"])
    with tf.device(WORKER):
        here = [v + 1, first * 2, tf.string_join([text, text])]
    with tf.device(OTHER):
        there = [v + 2, second * 2, tf.strings.length(text)]
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        steps = [*here, *there, v, [here[0], there[0]], [there[1], here], there]
        return [sess.run(fetches) for fetches in steps * 2]


def traced_steps(tf, target):
    with tf.device(PS):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    places = []  # a value, and whether the ps told what it did
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        for place in (WORKER, OTHER, WORKER):
            with tf.device(place):
                y = v * 2
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            metadata = tf.RunMetadata()
            value = sess.run(y, options=options, run_metadata=metadata)
            names = [d.device for d in metadata.step_stats.dev_stats]
            places.append([value, any("ps" in name for name in names)])
    return places


def takes_what_it_puts(tf, target):
    """Nothing but the loop's own iterations orders the queue's two operations."""
    with tf.device(PS):
        queue = tf.FIFOQueue(9, [tf.float32], shapes=[[]])

    def body(i, total):
        with tf.device(PS):
            taken, put = queue.dequeue(), queue.enqueue(i)
        with tf.control_dependencies([put]):
            return i + 1.0, total + taken

    with tf.device(WORKER):
        _, total = tf.while_loop(
            lambda i, _: i < 3.0, body, [0.0, 0.0], parallel_iterations=1
        )
    options = tf.RunOptions(timeout_in_ms=60000)
    with tf.Session(target) as sess:
        return [sess.run(total, options=options) for _ in range(2)]


def control_edges_in_branches(tf, target):
    p = tf.placeholder(tf.bool, [])
    with tf.device(PS):
        queue = tf.FIFOQueue(9, [tf.int32], shapes=[[]])

    def put(value, place):
        with tf.device(place):
            fed = tf.constant(value) * 1
        with tf.device(PS):
            done = queue.enqueue(fed)
        with tf.device(place), tf.control_dependencies([done]):
            return tf.constant(value)

    with tf.device(WORKER):
        y = tf.cond(p, lambda: put(1, OTHER), lambda: put(2, WORKER))
    options = tf.RunOptions(timeout_in_ms=60000)
    with tf.Session(target) as sess:
        found = [sess.run(y, {p: k}, options) for k in (True, False, True)]
        return [found, sess.run(queue.dequeue_many(3)), sess.run(queue.size())]


def _nested(tf, target):
    with tf.device(PS):
        bound = tf.constant(4)
    x = tf.placeholder(tf.float32, [])

    def body(i, total):
        def even():
            with tf.device(OTHER):
                return total * 2.0

        def odd():
            with tf.device(PS):
                return total + 1.0

        def inner(j, c):
            with tf.device(OTHER):
                return j + 1, c + tf.cast(j, tf.float32)

        with tf.device(WORKER):
            total = tf.cond(tf.equal(i % 2, 0), even, odd)
        return i + 1, tf.while_loop(lambda j, _: j < i, inner, [0, total])[1]

    with tf.device(WORKER):
        _, total = tf.while_loop(lambda i, _: i < bound, body, [0, x])
    gradient = tf.gradients(total, x)[0]
    with tf.Session(target) as sess:
        return [sess.run([total, gradient], {x: k}) for k in (1.0, -2.0)]


def nested_loops_with_gradient(tf, target):
    return _nested(tf, target)


def nested_loops_with_gradient_v2(tf, target):
    tf.enable_control_flow_v2()
    try:
        return _nested(tf, target)
    finally:
        tf.disable_control_flow_v2()


def mapped_over_a_table(tf, target):
    """The gradient is asked for on another task than the one that maps."""
    with tf.device(PS):
        table = tf.constant(np.arange(5.0) ** 2, tf.float32)
    with tf.device(OTHER):
        x = tf.placeholder(tf.int32, [None])
        y = tf.map_fn(lambda i: table[i] + 1.0, x, dtype=tf.float32)
        sums = tf.scan(lambda a, i: a + table[i], x, initializer=0.0)
    with tf.device(WORKER):
        gradient = tf.convert_to_tensor(tf.gradients(y * sums, table)[0])
    with tf.Session(target) as sess:
        return sess.run([y, sums, gradient], {x: [1, 4, 2]})


def feeds_of_inner_tensors(tf, target):
    with tf.device(PS):
        x = tf.placeholder(tf.float32, [None])
        p = tf.reduce_sum(x)
    with tf.device(OTHER):
        y = tf.placeholder_with_default(tf.constant([7.0]), [None])
        q = y * p
    with tf.device(WORKER):
        z, w = q + p, x + y
    with tf.Session(target) as sess:
        return [
            sess.run([z, w], {x: [1.0, 2.0]}),
            sess.run([z, w], {x: [1.0], y: [2.0]}),
            sess.run(z, {p: 10.0, y: [1.0]}),
            sess.run(z, {q: [3.0, 4.0], x: [5.0]}),
            sess.run(w, {y: [1.0, 2.0], x: [3.0, 4.0]}),
            error_of(tf, lambda: sess.run(z, {y: [1.0]})),
            error_of(tf, lambda: sess.run(z, {y: [[1.0]]})),
        ]


def control_edges_only(tf, target):
    with tf.device(PS):
        v, w = tf.Variable(0, name="v"), tf.Variable(0, name="w")
    with tf.device(OTHER):
        add = tf.assign_add(v, 1)
    with tf.device(WORKER), tf.control_dependencies([add]):
        done = tf.no_op()
    with tf.device(PS), tf.control_dependencies([done]):
        copy = tf.assign(w, v.read_value() * 10)
    with tf.device(OTHER), tf.control_dependencies([copy]):
        last = tf.constant(7)
    with tf.Session(target) as sess:
        sess.run([v.initializer, w.initializer])
        steps = [last, [v, w], done, [v, w], [last, done], [v, w]]
        return [sess.run(fetches) for fetches in steps]


def partial_run_over_three(tf, target):
    a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
    with tf.device(PS):
        x = a * 2
    with tf.device(WORKER):
        y = x + b
    with tf.device(OTHER):
        z = y * c
        v = tf.Variable(0.0, name="v")
        add = tf.assign_add(v, z)
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([x, y, z, add], [a, b, c])
        found = [sess.partial_run(handle, x, {a: 1.0})]
        found.append(sess.partial_run(handle, y, {b: 3.0}))
        found.append(sess.partial_run(handle, [z, add], {c: 2.0}))
        return [*found, sess.run(v)]


def callables_over_three(tf, target):
    with tf.device(PS):
        v = tf.Variable([1.0, 2.0], name="v")
        queue = tf.FIFOQueue(9, tf.float32, shapes=[[2]])
    with tf.device(OTHER):
        x = tf.placeholder(tf.float32, [2])
        put = queue.enqueue(v * x)
    with tf.device(WORKER):
        take = queue.dequeue() + v
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        feed, get = sess.make_callable(put, [x]), sess.make_callable(take)
        size = sess.make_callable([v, queue.size()])
        found = [feed([1.0, 1.0]), feed([2.0, 2.0]), size(), get(), get(), size()]
        return [*found, error_of(tf, lambda: feed(["a", "b"]))]


def accumulators_of_two_workers(tf, target):
    with tf.device(PS):
        dense = tf.ConditionalAccumulator(tf.float32, [2])
        sparse = tf.SparseConditionalAccumulator(tf.float32, [4, 2])
    with tf.device(OTHER):
        g = tf.placeholder(tf.float32, [2])
        slices = tf.IndexedSlices(tf.stack([g, g * 2]), tf.constant([1, 3], tf.int64))
        put = [dense.apply_grad(g, 2), sparse.apply_indexed_slices_grad(slices, 2)]
    with tf.device(WORKER):
        mean = dense.take_grad(2) * 1.0
        rows = sparse.take_indexed_slices_grad(1)
    with tf.Session(target) as sess:
        for value in ([1.0, 2.0], [3.0, 4.0]):
            sess.run(put, {g: value})
        found = [sess.run(mean), sess.run([rows.indices, rows.values])]
        sess.run(dense.set_global_step(5))
        sess.run(put[0], {g: [1.0, 2.0]})  # too late
        return [*found, sess.run(dense.num_accumulated())]


def datasets_of_a_worker(tf, target):
    with tf.device(OTHER):
        data = tf.data.Dataset.range(7).map(lambda x: x * x).batch(3)
        iterator = tf.data.make_initializable_iterator(data)
        element = iterator.get_next()
    with tf.device(PS):
        total = tf.reduce_sum(element)
    with tf.Session(target) as sess:
        found = [error_of(tf, lambda: sess.run(total))]
        for _ in range(2):
            sess.run(iterator.initializer)
            found += [sess.run([total, element]) for _ in range(3)]
            found.append(error_of(tf, lambda: sess.run(total)))
        return found


def strings_over_three(tf, target):
    with tf.device(PS):
        text = tf.constant([[b"a\0b", b"x y"], [b"\xc3\xa9", b""]])
        words = tf.string_split(["x y z", " q"])
    with tf.device(OTHER):
        found = [tf.strings.length(text), tf.reduce_join(text, 1)]
        found.append(tf.strings.regex_replace(text, "a", "AA"))
        found.append(tf.string_to_hash_bucket_fast(text, 100))
    with tf.device(WORKER):
        given = tf.placeholder(tf.string, [None])
        found.append(tf.sparse_tensor_to_dense(words, ""))
        found.append(tf.concat([given, tf.reshape(found[1], [-1])], 0))
    with tf.Session(target) as sess:
        return sess.run(found, {given: ["in", ""]})


def filtered_devices(tf, target):
    with tf.device(PS):
        v = tf.Variable(3.0, name="v")
    with tf.device(WORKER):
        here = v * 2
    with tf.device(OTHER):
        there = v * 3

    def session(*filters):
        return tf.Session(target, config=tf.ConfigProto(device_filters=filters))

    def tasks(sess):
        names = [d.name.rpartition("/device")[0] for d in sess.list_devices()]
        return sorted(set(names))

    found = []
    with session("/job:ps", "/job:worker/task:0") as sess:
        found += [tasks(sess), error_of(tf, lambda: sess.run([here, there]))]
    with session("/job:worker") as sess:
        found += [error_of(tf, lambda: sess.run(v)), tasks(sess)]
    with session() as sess:
        sess.run(v.initializer)
        found += [tasks(sess), sess.run([here, there])]
    return found


def sharded_checkpoint(tf, target):
    with tf.device(PS):
        a = tf.get_variable("a", [3], initializer=tf.ones_initializer())
        s = tf.Variable(["x", "yy"], name="s")
    with tf.device(OTHER):
        b = tf.get_variable("b", [2, 2], tf.float64, tf.zeros_initializer())
    with tf.device(WORKER):
        c = tf.Variable([True, False], name="c")
    update = [
        tf.assign_add(a, [1.0, 2.0, 3.0]),
        tf.assign_add(b, [[1.0, 2], [3, 4]]),
        tf.assign(s, ["q", "w"]),
        tf.assign(c, [False, False]),
    ]
    saver = tf.train.Saver(sharded=True)
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.test.get_temp_dir() + "/sharded"
        saved = saver.save(sess, path)
        sess.run(update)
        changed = sess.run([a, s, b, c])
        saver.restore(sess, saved)
        return [changed, sess.run([a, s, b, c])]
