"""Programs for a cluster of a ps and a worker: ops of many kinds on any task."""

import os
import tempfile

import numpy as np
from running import PS, WORKER, error_of


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
        error = error_of(tf, lambda: sess.run(y))
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
        early = error_of(tf, lambda: sess.run(batch))
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
        return [*found, error_of(tf, lambda: one.run(pair))]


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
        early = error_of(tf, lambda: sess.run(y, {words: ["a"]}))
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
        missing = error_of(
            tf, lambda: saver.restore(sess, os.path.join(folder, "nothing"))
        )
        return [files, values, [[n, list(s)] for n, s in shapes], missing]


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
        return [*found, error_of(tf, lambda: sess.run(ops[0], {ids: [1, 9]}))]
