"""More programs for a cluster of a ps and a worker: what sessions of all kinds do.

Usage: python sessions.py SYSTEM TARGET; see `programs`. Runs on Python 3.7 too.
"""

import os
import tempfile
import threading
import time

import numpy as np
from programs import PS, WORKER, main


def _error(tf, run):
    """The class of what a call raises, or its value."""
    try:
        return run()
    except tf.errors.OpError as error:
        return type(error).__name__
    except (TypeError, ValueError, RuntimeError) as error:
        return type(error).__name__


def partial_run_over_tasks(tf, target):
    a, b, c = (tf.placeholder(tf.float32, [], name=n) for n in "abc")
    with tf.device(PS):
        first = a * 2.0
        third = c - first
    with tf.device(WORKER):
        second = first + b
        last = second * third
    with tf.Session(target) as sess:
        handle = sess.partial_run_setup([first, second, last], [a, b, c])
        found = [sess.partial_run(handle, first, {a: 3.0})]
        found.append(sess.partial_run(handle, second, {b: 1.0}))
        found.append(sess.partial_run(handle, last, {c: 10.0}))
        again = _error(tf, lambda: sess.partial_run(handle, last, {c: 1.0}))
        other = sess.partial_run_setup([first], [a])
        return [*found, again, sess.partial_run(other, first, {a: 1.0})]


def partial_run_errors(tf, target):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(PS):
        x = a + 1.0
    with tf.device(WORKER):
        y = x * b
    with tf.Session(target) as sess:
        handle = sess.partial_run_setup([x, y], [a, b])
        early = _error(tf, lambda: sess.partial_run(handle, y, {a: 1.0}))
        unknown = _error(tf, lambda: sess.partial_run("nothing", y, {a: 1.0}))
        other = sess.partial_run_setup([x], [a])
        not_asked = _error(tf, lambda: sess.partial_run(other, y, {a: 1.0}))
        return [early, unknown, not_asked]


def partial_run_with_variable(tf, target):
    with tf.device(PS):
        v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    a = tf.placeholder(tf.float32, [2])
    with tf.device(WORKER):
        y = tf.reduce_sum(v) + a
    add = tf.assign_add(v, a)
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        no_op = _error(tf, lambda: sess.partial_run_setup([y, add.op], [a]))
        handle = sess.partial_run_setup([y, add], [a])
        found = sess.partial_run(handle, y, {a: [1.0, 2.0]})
        after = sess.partial_run(handle, add)
        return [len(no_op) > 0, found, after, sess.run(v)]


def callables_of_all_kinds(tf, target):
    a, b = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    with tf.device(PS):
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        x = a * 2.0
    with tf.device(WORKER):
        y = tf.reduce_sum(x) + tf.cast(b, tf.float32)
    add = tf.assign_add(v, 1.0)
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        both = sess.make_callable([y, {"x": x}], [a, b])
        target_only = sess.make_callable(add.op)
        none = sess.make_callable(add)
        found = [both([1.0, 2.0], 3)[0], both(np.ones(5), 0)[1]["x"]]
        found += [target_only(), none(), none(), sess.run(v)]
        wrong = _error(tf, lambda: both([[1.0]], 1))
        few = _error(tf, lambda: both([1.0]))
        return [*found, wrong, few]


def callable_outlives_others(tf, target):
    a = tf.placeholder(tf.string, [])
    with tf.device(WORKER):
        y = tf.strings.join([a, "!"]) if hasattr(tf, "strings") else a
    with tf.Session(target) as sess:
        calls = [sess.make_callable(y, [a]) for _ in range(3)]
        last = calls.pop()
        del calls
        return [last(b"hello"), last("bye")]


def queues_between_sessions(tf, target):
    with tf.device(PS):
        queue = tf.FIFOQueue(3, tf.int32, [[]], shared_name="between")
        count = queue.size()
    x = tf.placeholder(tf.int32, [])
    put, take = queue.enqueue(x), queue.dequeue()
    take_many = queue.dequeue_many(2)
    close = queue.close(cancel_pending_enqueues=True)
    found = []
    with tf.Session(target) as one, tf.Session(target) as other:

        def consume():
            with_thread.append(other.run(take))

        with_thread = []
        thread = threading.Thread(target=consume)
        thread.start()
        time.sleep(0.2)
        one.run(put, {x: 7})
        thread.join(20)
        found += with_thread
        for i in range(3):
            one.run(put, {x: i})
        found += [other.run(count), other.run(take_many)]
        full = []

        def fill():
            for i in range(9):
                full.append(_error(tf, lambda i=i: one.run(put, {x: i})))
                if full[-1] is not None:
                    return

        thread = threading.Thread(target=fill)
        thread.start()
        time.sleep(0.3)
        other.run(close)
        thread.join(20)
        found += [full[-1], other.run(take), other.run(take)]
        found += [other.run(take), _error(tf, lambda: other.run(take))]
    return found


def queue_kinds(tf, target):
    with tf.device(PS):
        padding = tf.PaddingFIFOQueue(5, [tf.int32], [[None]], shared_name="padding")
        ranked = tf.PriorityQueue(5, [tf.string], [[]], shared_name="ranked")
        mixed = tf.RandomShuffleQueue(5, 0, [tf.int32], [[]], shared_name="mixed")
    x = tf.placeholder(tf.int32, [None])
    with tf.Session(target) as sess:
        for value in ([1], [2, 3], [4, 5, 6]):
            sess.run(padding.enqueue([x]), {x: value})
        for rank, text in ((3, "c"), (1, "a"), (2, "b")):
            sess.run(ranked.enqueue((np.int64(rank), text)))
        sess.run(mixed.enqueue_many([[1, 2, 3]]))
        with tf.device(WORKER):
            out = tf.reduce_sum(padding.dequeue_many(3), 1)
        in_order = [sess.run(ranked.dequeue())[1] for _ in range(3)]
        shuffled = sorted(sess.run(mixed.dequeue_many(3)))
        wrong = _error(tf, lambda: sess.run(ranked.enqueue((np.int64(1), "x"))))
        return [sess.run(out), in_order, shuffled, wrong]


def barriers_and_accumulators(tf, target):
    with tf.device(PS):
        total = tf.ConditionalAccumulator(tf.float32, [2], shared_name="total")
        rows = tf.SparseConditionalAccumulator(tf.float32, [4, 1], shared_name="rows")
    x = tf.placeholder(tf.float32, [2])
    give = total.apply_grad(x, local_step=1)
    sparse = rows.apply_indexed_slices_grad(
        tf.IndexedSlices(tf.constant([[1.0], [3.0]]), tf.constant([0, 2], tf.int64)),
        local_step=0,
    )
    with tf.Session(target) as one, tf.Session(target) as other:
        one.run(give, {x: [1, 2]})
        other.run(give, {x: [3, 4]})
        other.run(sparse)
        one.run(sparse)
        found = [one.run(total.num_accumulated()), other.run(total.take_grad(2))]
        slices = one.run(rows.take_indexed_slices_grad(2))
        found += [slices.indices, slices.values]
        one.run(total.set_global_step(5))
        other.run(give, {x: [1, 1]})  # stale: dropped
        return [*found, one.run(total.num_accumulated())]


def containers(tf, target):
    with tf.device(PS):
        with tf.container("first"):
            a = tf.get_variable("a", [], initializer=tf.ones_initializer())
        with tf.container("second"):
            b = tf.get_variable("b", [], initializer=tf.ones_initializer())
        c = tf.get_variable("c", [], initializer=tf.ones_initializer())
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run([a.assign(5.0), b.assign(6.0), c.assign(7.0)])
    tf.Session.reset(target, ["first"])
    with tf.Session(target) as sess:
        gone = _error(tf, lambda: sess.run(a))
        return [gone, sess.run(b), sess.run(c)]


def reset_closes_sessions(tf, target):
    with tf.device(PS):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
    sess = tf.Session(target)
    sess.run(v.initializer)
    tf.Session.reset(target)
    old = _error(tf, lambda: sess.run(v))
    with tf.Session(target) as new:
        return [old, _error(tf, lambda: new.run(v))]


def closed_sessions(tf, target):
    with tf.device(WORKER):
        x = tf.constant(1) + 1
    sess = tf.Session(target)
    first = sess.run(x)
    sess.close()
    sess.close()
    return [first, _error(tf, lambda: sess.run(x))]


def isolated_state(tf, target):
    config = tf.ConfigProto(isolate_session_state=True)
    with tf.device(PS):
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        queue = tf.FIFOQueue(3, tf.int32, [[]], shared_name="isolated")
    with tf.Session(target) as shared:
        shared.run([v.initializer, queue.enqueue(1)])
        with tf.Session(target, config=config) as one:
            missing = _error(tf, lambda: one.run(v))
            one.run(v.assign(3.0))
            size = one.run(queue.size())
            with tf.Session(target, config=config) as two:
                other = _error(tf, lambda: two.run(v))
            return [missing, size, other, one.run(v), shared.run([v, queue.size()])]


def filtered_devices(tf, target):
    only_worker = tf.ConfigProto(device_filters=["/job:worker/task:0"])
    both = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:0"])
    with tf.device(WORKER):
        x = tf.constant(1.0) * 3.0
    with tf.Session(target, config=only_worker) as sess:
        names = sorted(d.name for d in sess.list_devices() if ":CPU:" in d.name)
        found = [names, sess.run(x)]
    with tf.device(PS):
        y = x + 1.0
    with tf.Session(target, config=only_worker) as sess:
        found += [_error(tf, lambda: sess.run(x)), _error(tf, lambda: sess.run(y))]
    with tf.Session(target, config=both) as sess:
        return [*found, sess.run(y)]


def string_tensors(tf, target):
    data = tf.placeholder(tf.string, [None])
    with tf.device(PS):
        joined = tf.string_join([data, data], "-")
        table = tf.Variable([b"x", b"\x00\xff", b""], dtype=tf.string)
    with tf.device(WORKER):
        lengths = tf.strings.length(joined)
        both = tf.concat([joined, table], 0)
        number = tf.string_to_number(tf.as_string(lengths))
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        feed = {data: [b"a" * 1000, "\u00e9", b"\x00"]}
        found = [sess.run(lengths, feed), sess.run(number, feed)]
        values = sess.run(both, feed)
        return [*found, [list(bytearray(v)) for v in values[1:]], values.dtype.kind]


def big_feeds(tf, target):
    x = tf.placeholder(tf.float32, [None, None])
    with tf.device(PS):
        total = tf.reduce_sum(x)
    with tf.device(WORKER):
        same = tf.identity(x)
    value = np.arange(3_000_000, dtype=np.float32).reshape(1000, 3000) % 7
    with tf.Session(target) as sess:
        summed = sess.run(total, {x: value})
        back = sess.run(same, {x: value})
        empty = sess.run(same, {x: np.zeros([0, 4])})
        strided = sess.run(same, {x: value.T[::2, ::3]})
        return [
            float(summed),
            bool(np.array_equal(back, value)),
            list(empty.shape),
            bool(np.array_equal(strided, value.T[::2, ::3])),
        ]


def traced_step(tf, target):
    with tf.device(PS):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
    with tf.device(WORKER):
        y = tf.square(v, name="squared")
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        metadata = tf.RunMetadata()
        options = tf.RunOptions(
            trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True
        )
        found = sess.run(y, options=options, run_metadata=metadata)
        devices = {d.device.split("/device")[0] for d in metadata.step_stats.dev_stats}
        devices = {d.replace("/replica:0", "") for d in devices if d.startswith("/job")}
        graphs = len(metadata.partition_graphs)
        plain = tf.RunMetadata()
        sess.run(y, run_metadata=plain)
        return [found, sorted(devices), graphs, len(plain.step_stats.dev_stats)]


def timed_out_steps(tf, target):
    with tf.device(PS):
        queue = tf.FIFOQueue(3, tf.float32, [[]], shared_name="silent")
    with tf.device(WORKER):
        y = queue.dequeue() + 1.0
    config = tf.ConfigProto(operation_timeout_in_ms=2000)
    with tf.Session(target, config=config) as sess:
        found = [_error(tf, lambda: sess.run(y))]
        sess.run(queue.enqueue(4.0))
        return [*found, sess.run(y)]


def a_session_that_closes_stops_its_steps(tf, target):
    with tf.device(PS):
        queue = tf.FIFOQueue(3, tf.float32, [[]], shared_name="stopped")
        taken = queue.dequeue()
    sess = tf.Session(target)
    sess.run(queue.size())
    found = []
    thread = threading.Thread(target=lambda: found.append(_error(tf, run)))

    def run():
        return sess.run(taken)

    thread.start()
    time.sleep(0.5)
    sess.close()
    thread.join(20)
    return [bool(found) and found[0] in ("CancelledError", "AbortedError")]


def coordinated_runners(tf, target):
    with tf.device(PS):
        queue = tf.FIFOQueue(10, tf.float32, [[2]], shared_name="fed")
    with tf.device(WORKER):
        source = tf.random_uniform([2], 1.0, 2.0)
        runner = tf.train.QueueRunner(queue, [queue.enqueue(source)] * 2)
        batch = queue.dequeue_many(4)
    tf.train.add_queue_runner(runner)
    with tf.Session(target) as sess:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        values = [sess.run(batch) for _ in range(5)]
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10)
        return [bool(np.all((np.array(values) >= 1) & (np.array(values) < 2)))]


def _far(tf):
    with tf.device("/job:worker/task:9"):
        return tf.constant(1) + 1, {}


def _absent_device(tf):
    with tf.device("/job:ps/task:0/device:GPU:0"):
        return tf.constant(1.0) * 2.0, {}


def _not_fed(tf):
    return tf.placeholder(tf.float32, [2]) + 1.0, {}


def _wrong_shape(tf):
    x = tf.placeholder(tf.float32, [2])
    return x * 2.0, {x: [1.0, 2.0, 3.0]}


def _absent_name(tf):
    return "absent:0", {}


def _other_device_of_variable(tf):
    with tf.device(PS):
        v = tf.Variable(1.0)
    with tf.device(WORKER):
        return tf.raw_ops.AssignAdd(ref=v._ref(), value=1.0), {}


def _impossible_colocation(tf):
    with tf.device(PS):
        a = tf.constant(1.0, name="a")
    with tf.device(WORKER):
        b = tf.constant(1.0, name="b")
    with tf.colocate_with(a), tf.colocate_with(b):
        return a + b, {}


def _products(tf):
    with tf.device(PS):
        a = tf.placeholder(tf.float32, None)
        return tf.matmul(a, a), {a: np.ones([2, 3])}


def _reshaped(tf):
    with tf.device(WORKER):
        a = tf.placeholder(tf.float32, None)
        return tf.reshape(a, [7]), {a: np.ones(3)}


def _asserted(tf):
    with tf.device(PS):
        a = tf.placeholder(tf.float32, None)
        return tf.Assert(tf.reduce_all(a > 5.0), [a]), {a: np.ones(3)}


def _divided(tf):
    with tf.device(WORKER):
        a = tf.placeholder(tf.int32, None)
        return a // (a - a), {a: [1, 2]}


def _wrong_dtype_of_feed(tf):
    a = tf.placeholder(tf.int32, [])
    return a + 1, {a: "text"}


def _fed_constant(tf):
    with tf.device(PS):
        a = tf.constant(2.0)
    return a * 2.0, {a: 5.0}


def _asked_of_another_graph(tf):
    with tf.Graph().as_default():
        return tf.constant(1), {}


def invalid_graphs(tf, target):
    found = []
    for build in (
        *(_far, _absent_device, _not_fed, _wrong_shape, _absent_name, _products),
        *(_other_device_of_variable, _impossible_colocation, _reshaped, _asserted),
        *(_divided, _wrong_dtype_of_feed, _fed_constant, _asked_of_another_graph),
    ):
        with tf.Graph().as_default(), tf.Session(target) as sess:
            fetch, feed = build(tf)
            error = _error(tf, lambda f=fetch, d=feed: sess.run(f, d))
            with tf.device(WORKER):
                after = tf.constant(1) + 1
            later = _error(tf, lambda f=after: sess.run(f))
            found.append([build.__name__, error, later])
    return found


def file_errors(tf, target):
    with tf.device(PS):
        content = tf.read_file("/nowhere/at/all")
    with tf.device(WORKER):
        image = tf.image.decode_png(b"no image")
        number = tf.string_to_number("x")
        parsed = tf.parse_single_example(
            b"abc", {"a": tf.FixedLenFeature([], tf.int64)}
        )
    with tf.Session(target) as sess:
        return [
            _error(tf, lambda t=t: sess.run(t))
            for t in (content, image, number, parsed["a"])
        ]


def colocated(tf, target):
    with tf.device(PS):
        v = tf.get_variable("v", [3], initializer=tf.zeros_initializer())
    with tf.device(WORKER):
        with tf.colocate_with(v):
            x = tf.identity(v + 1.0)
        y = x * 2.0
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    train = optimizer.minimize(tf.reduce_sum(tf.square(y - 3.0)))
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        slot = optimizer.get_slot(v, "momentum")
        return [sess.run(v), sess.run(slot)]


def loops_on_resources(tf, target):
    with tf.device(PS):
        v = tf.get_variable(
            "v", [], use_resource=True, initializer=tf.ones_initializer()
        )
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [3])
        total = tf.foldl(lambda a, b: a * v + b, x, tf.constant(0.0))
        mapped = tf.map_fn(lambda e: e + v, x)
        scanned = tf.scan(lambda a, b: a + b * v, x)
        gradient = tf.gradients(total, [v, x])
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        sess.run(v.assign(2.0))
        return sess.run([total, mapped, scanned, gradient], {x: [1, 2, 3]})


def rnn_over_tasks(tf, target):
    x = tf.placeholder(tf.float32, [2, 5, 3])
    lengths = tf.placeholder(tf.int32, [2])
    setter = tf.train.replica_device_setter(1, "/job:ps", WORKER)
    with tf.device(setter):
        cell = tf.nn.rnn_cell.BasicRNNCell(4)
        kernel = tf.constant_initializer(0.1)
        with tf.variable_scope("net", initializer=kernel):
            outputs, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
        loss = tf.reduce_sum(tf.square(state - 0.3))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    data = np.random.RandomState(1).rand(2, 5, 3).astype(np.float32)
    feed = {x: data, lengths: [5, 3]}
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], feed)[0] for _ in range(3)]
        return [losses, sess.run(outputs, feed)[1]]


def python_of_another_process(tf, target):
    with tf.device(PS):
        x = tf.py_func(lambda a: a + 1, [tf.constant([1.0])], tf.float32)
    with tf.device(WORKER):
        y = x * 2.0
    with tf.Session(target) as sess:
        error = _error(tf, lambda: sess.run(y))
        return [error, sess.run(tf.constant(1))]


def case_and_switch(tf, target):
    with tf.device(WORKER):
        n = tf.placeholder(tf.int32, [])
        with tf.device(PS):
            two = tf.identity(tf.constant(2.0))
        y = tf.case(
            [
                (tf.equal(n, 0), lambda: two + 1.0),
                (tf.equal(n, 1), lambda: two * 5.0),
            ],
            default=lambda: -two,
            exclusive=True,
        )
        table = tf.switch_case(n, [lambda: two, lambda: two * two])
    with tf.Session(target) as sess:
        return [sess.run([y, table], {n: i}) for i in (0, 1, 5)]


def iterators_on_workers(tf, target):
    with tf.device(WORKER):
        data = tf.data.Dataset.range(10).map(lambda i: i * 2).batch(3)
        iterator = tf.data.make_initializable_iterator(data)
        batch = iterator.get_next()
    with tf.device(PS):
        total = tf.reduce_sum(batch)
    with tf.Session(target) as sess:
        early = _error(tf, lambda: sess.run(batch))
        sess.run(iterator.initializer)
        sums = []
        while True:
            try:
                sums.append(sess.run(total))
            except tf.errors.OutOfRangeError:
                break
        sess.run(iterator.initializer)
        return [early, sums, sess.run(batch)]


def iterators_on_the_ps(tf, target):
    with tf.device(PS):
        data = tf.data.Dataset.from_tensor_slices(
            {"a": [1, 2, 3], "b": ["x", "y", "z"]}
        )
        data = data.filter(lambda row: row["a"] > 1).repeat(2)
        iterator = tf.data.make_initializable_iterator(data, shared_name="on_ps")
        row = iterator.get_next()
    with tf.device(WORKER):
        doubled = row["a"] * 2
    with tf.Session(target) as one, tf.Session(target) as other:
        one.run(iterator.initializer)
        found = [one.run([doubled, row["b"]]), other.run([doubled, row["b"]])]
        pair = [row["a"], row["b"]]
        found += [one.run(pair), other.run(pair)]
        return [*found, _error(tf, lambda: one.run(pair))]


def lookup_tables_on_the_ps(tf, target):
    with tf.device(PS):
        keys = tf.constant(["a", "b"])
        init = tf.lookup.KeyValueTensorInitializer(keys, tf.constant([5, 6], tf.int64))
        table = tf.lookup.StaticHashTable(init, -1)
        words = tf.placeholder(tf.string, [None])
        found = table.lookup(words)
    with tf.device(WORKER):
        y = found + 1
    with tf.Session(target) as sess:
        early = _error(tf, lambda: sess.run(y, {words: ["a"]}))
        sess.run(tf.tables_initializer())
        return [early, sess.run(y, {words: ["b", "q"]})]


def functions_on_other_tasks(tf, target):
    from_there = []
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [2])
        y = tf.custom_gradient(lambda t: (t * 2.0, lambda d: d * 7.0))(x)
        gradient = tf.gradients(y, x)[0]
    with tf.device(PS):
        z = gradient + 1.0
    with tf.Session(target) as sess:
        from_there.append(sess.run([y, z], {x: [1.0, 2.0]}))
    return from_there


def sharded_variables_saved(tf, target):
    with tf.device(PS):
        parts = tf.get_variable(
            "table",
            [7, 2],
            partitioner=tf.fixed_size_partitioner(3),
            initializer=tf.ones_initializer(),
        )
        step = tf.train.get_or_create_global_step()
    with tf.device(WORKER):
        local = tf.get_variable("local", [2], initializer=tf.zeros_initializer())
    saver = tf.train.Saver(sharded=True, max_to_keep=1)
    with tempfile.TemporaryDirectory() as folder, tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        paths = []
        for number in (1, 2):
            sess.run([tf.assign_add(step, 1), tf.assign_add(local, [1.0, 2.0])])
            paths.append(saver.save(sess, os.path.join(folder, "m"), number))
        files = sorted(os.listdir(folder))
        sess.run(tf.global_variables_initializer())
        saver.restore(sess, tf.train.latest_checkpoint(folder))
        shapes = tf.train.list_variables(paths[1])
        values = sess.run([local, step, tf.convert_to_tensor(parts)])
        missing = _error(
            tf, lambda: saver.restore(sess, os.path.join(folder, "nothing"))
        )
        return [files, values, [[n, list(s)] for n, s in shapes], missing]


def steps_of_many_threads(tf, target):
    with tf.device(PS):
        v = tf.get_variable("v", [], tf.int64, initializer=tf.zeros_initializer())
        add = tf.assign_add(v, 1, use_locking=True)
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [])
        y = x * 2.0
    wrong = []
    with tf.Session(target) as sess:
        sess.run(v.initializer)

        def run(number):
            for i in range(20):
                sess.run(add)
                if sess.run(y, {x: number * 100 + i}) != (number * 100 + i) * 2:
                    wrong.append((number, i))

        threads = [threading.Thread(target=run, args=(n,)) for n in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [wrong, sess.run(v)]


def summaries_on_workers(tf, target):
    with tf.device(PS):
        v = tf.get_variable("v", [4], initializer=tf.ones_initializer())
    with tf.device(WORKER):
        tf.summary.scalar("mean", tf.reduce_mean(v))
        tf.summary.histogram("values", v * 2.0)
        merged = tf.summary.merge_all()
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        proto = tf.Summary.FromString(sess.run(merged))
        return [[v.tag, v.simple_value, v.histo.sum] for v in proto.value]


def placeholders_with_defaults(tf, target):
    with tf.device(PS):
        x = tf.placeholder_with_default([1.0, 2.0], [None])
        y = x * 2.0
    with tf.device(WORKER):
        z = tf.reduce_sum(y)
    with tf.Session(target) as sess:
        return [sess.run(z), sess.run(z, {x: [5.0]}), sess.run(z, {y: [1.0, 1.0]})]


def fetches_of_all_shapes(tf, target):
    with tf.device(PS):
        a = tf.identity(tf.constant([[1, 2]]))
    with tf.device(WORKER):
        b = tf.SparseTensor(tf.constant([[0, 1]], tf.int64), [3.0], [2, 2])
        c = tf.IndexedSlices(tf.constant([1.0]), tf.constant([4]))
        d = tf.group(a, b.values)
    with tf.Session(target) as sess:
        found = sess.run({"a": a, "s": [b, (c, d)], "again": [a, a]})
        sparse = found["s"][0]
        return [
            found["a"],
            sparse.indices,
            sparse.values,
            sparse.dense_shape,
            found["s"][1][0].values,
            found["s"][1][1] is None,
            found["again"],
        ]


def scatter_updates(tf, target):
    with tf.device(PS):
        v = tf.Variable(tf.zeros([5, 2]))
        r = tf.get_variable(
            "r", [5], use_resource=True, initializer=tf.zeros_initializer()
        )
    with tf.device(WORKER):
        ids = tf.placeholder(tf.int32, [None])
        rows = tf.cast(tf.stack([ids, ids], 1), tf.float32)
    ops = [tf.scatter_add(v, ids, rows), tf.scatter_update(r, ids, [7.0, 8.0])]
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(ops, {ids: [1, 4]})
        found = [sess.run(v), sess.run(r)]
        return [*found, _error(tf, lambda: sess.run(ops[0], {ids: [1, 9]}))]


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__module__", "") == __name__
    and name[0] != "_"
]


if __name__ == "__main__":
    main(PROGRAMS)
