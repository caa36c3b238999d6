"""Programs for a cluster of a ps and a worker: what sessions of all kinds do."""

import threading
import time

import numpy as np
from running import PS, WORKER, error_of


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
        again = error_of(tf, lambda: sess.partial_run(handle, last, {c: 1.0}))
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
        early = error_of(tf, lambda: sess.partial_run(handle, y, {a: 1.0}))
        unknown = error_of(tf, lambda: sess.partial_run("nothing", y, {a: 1.0}))
        other = sess.partial_run_setup([x], [a])
        not_asked = error_of(tf, lambda: sess.partial_run(other, y, {a: 1.0}))
        return [early, unknown, not_asked]


def partial_run_with_variable(tf, target):
    with tf.device(PS):
        v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    a, b = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    with tf.device(WORKER):
        y = tf.reduce_sum(v) + a
    add = tf.assign_add(v, b)  # fed later: it must not run before v is read
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        no_op = error_of(tf, lambda: sess.partial_run_setup([y, add.op], [a, b]))
        handle = sess.partial_run_setup([y, add], [a, b])
        found = sess.partial_run(handle, y, {a: [1.0, 2.0]})
        after = sess.partial_run(handle, add, {b: [1.0, 2.0]})
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
        wrong = error_of(tf, lambda: both([[1.0]], 1))
        few = error_of(tf, lambda: both([1.0]))
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
        thread.join(60)
        found += with_thread
        for i in range(3):
            one.run(put, {x: i})
        found += [other.run(count), other.run(take_many)]
        full = []

        def fill():
            for i in range(9):
                full.append(error_of(tf, lambda i=i: one.run(put, {x: i})))
                if full[-1] is not None:
                    return

        thread = threading.Thread(target=fill)
        thread.start()
        while other.run(count) < 3:
            time.sleep(0.01)
        time.sleep(0.3)
        other.run(close)
        thread.join(60)
        found += [full[-1], other.run(take), other.run(take)]
        found += [other.run(take), error_of(tf, lambda: other.run(take))]
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
        wrong = error_of(tf, lambda: sess.run(ranked.enqueue((np.int64(1), "x"))))
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
        gone = error_of(tf, lambda: sess.run(a))
        return [gone, sess.run(b), sess.run(c)]


def reset_closes_sessions(tf, target):
    with tf.device(PS):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
    sess = tf.Session(target)
    sess.run(v.initializer)
    tf.Session.reset(target)
    old = error_of(tf, lambda: sess.run(v))
    with tf.Session(target) as new:
        return [old, error_of(tf, lambda: new.run(v))]


def closed_sessions(tf, target):
    with tf.device(WORKER):
        x = tf.constant(1) + 1
    sess = tf.Session(target)
    first = sess.run(x)
    sess.close()
    sess.close()
    return [first, error_of(tf, lambda: sess.run(x))]


def isolated_state(tf, target):
    config = tf.ConfigProto(isolate_session_state=True)
    with tf.device(PS):
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        queue = tf.FIFOQueue(3, tf.int32, [[]], shared_name="isolated")
    with tf.Session(target) as shared:
        shared.run([v.initializer, queue.enqueue(1)])
        with tf.Session(target, config=config) as one:
            missing = error_of(tf, lambda: one.run(v))
            one.run(v.assign(3.0))
            size = one.run(queue.size())
            with tf.Session(target, config=config) as two:
                other = error_of(tf, lambda: two.run(v))
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
        found += [error_of(tf, lambda: sess.run(x)), error_of(tf, lambda: sess.run(y))]
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


def partition_graphs_with_ops_of_one_system(tf, target):
    """TensorFlow 2 may run a Softmax as an op that no other system knows."""
    with tf.device(PS):
        x = tf.placeholder(tf.float32, [2, 2])
        y = tf.nn.softmax(x)
    with tf.device(WORKER):
        z = tf.reduce_sum(tf.nn.softmax(y), 1)
    with tf.Session(target) as sess:
        metadata = tf.RunMetadata()
        options = tf.RunOptions(
            trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True
        )
        feeds = {x: [[1.0, 2.0], [3.0, 5.0]]}
        found = sess.run(z, feeds, options=options, run_metadata=metadata)
        nodes = [n for graph in metadata.partition_graphs for n in graph.node]
        return [found, sum("Softmax" in node.op for node in nodes)]


def timed_out_steps(tf, target):
    with tf.device(PS):
        queue = tf.FIFOQueue(3, tf.float32, [[]], shared_name="silent")
    with tf.device(WORKER):
        y = queue.dequeue() + 1.0
    put = queue.enqueue_many([[4.0, 4.0]])
    with tf.Session(target) as sess:  # what a first step takes is not limited
        sess.run(put)
        sess.run(y)
        sess.run(y)
    config = tf.ConfigProto(operation_timeout_in_ms=4000)
    with tf.Session(target, config=config) as sess:
        found = [error_of(tf, lambda: sess.run(y))]
        # The task with the queue may hear late that the step is over, and give it one.
        later = tf.RunOptions(timeout_in_ms=60000)
        sess.run(put, options=later)
        return [*found, sess.run(y, options=later)]


def a_session_that_closes_stops_its_steps(tf, target):
    with tf.device(PS):
        queue = tf.FIFOQueue(3, tf.float32, [[]], shared_name="stopped")
        began = tf.FIFOQueue(3, tf.float32, [[]], shared_name="began")
        has_begun = began.dequeue()
        with tf.control_dependencies([began.enqueue(1.0)]):
            taken = queue.dequeue()
    sess = tf.Session(target)
    found = []
    thread = threading.Thread(target=lambda: found.append(error_of(tf, run)))

    def run():
        return sess.run(taken)

    thread.start()
    with tf.Session(target) as other:
        other.run(has_begun)
    time.sleep(0.3)
    sess.close()
    thread.join(60)
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
        coordinator.join(threads, stop_grace_period_secs=60)
        return [bool(np.all((np.array(values) >= 1) & (np.array(values) < 2)))]


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


def floats_as_bfloat16(tf, target):
    x = np.float32([1.0001, 3.14159265, -2.7182817, 65537.5, np.inf, 3.4e38])
    ph = tf.placeholder(tf.float32, [6])
    with tf.device(PS):
        v = tf.get_variable("v", initializer=tf.constant(x))
        double = tf.constant(x.astype(np.float64))
        here, fed = tf.identity(v), ph + 0.0
    with tf.device(WORKER):
        there, exact = v * 1.0, double * 1.0
        fed_too, own = ph * 1.0, tf.constant(x) + 0.0
        chosen = tf.cond(v[0] > 0, lambda: v[:4] * 2.0, lambda: v[:4] * 3.0)
        summed = tf.while_loop(
            lambda i, s: i < 3, lambda i, s: (i + 1, s + v[:2]), [0, v[:2]]
        )[1]
        loss = tf.reduce_sum(tf.square(v[:3]))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=[v])
    update = tf.assign(v, there)
    config = tf.ConfigProto()
    config.graph_options.enable_bfloat16_sendrecv = True
    with tf.Session(target, config=config) as sess:
        sess.run(v.initializer)
        found = sess.run([here, there, exact, own, chosen, summed])
        found += sess.run([fed, fed_too], {ph: x})
        sess.run(train)
        found.append(sess.run(v))
        sess.run(update.op)
        return [*found, sess.run(v)]
