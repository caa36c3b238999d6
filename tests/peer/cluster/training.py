"""Programs for a cluster of a ps and a worker: training and checkpoints."""

import os
import tempfile

import numpy as np
from running import PS, WORKER


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
        thread.join(60)
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
