"""One task of a cluster: python cluster_task.py SYSTEM CLUSTER_JSON JOB INDEX [TRAINING].

Runs in every system, on Python 3.7 too. Says "ready", then reads lines: a number of
training steps to run, answered by "done" when they are. Ends when its input does.
"""

import json
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from benchmarks import systems

BATCH = 32


def build(tf, cluster, index, workers, is_synchronous):
    """The session of a worker, and a training step of a network 784-128-10."""
    from benchmarks.workloads import models

    tf.set_random_seed(1)
    device = tf.train.replica_device_setter(
        cluster=cluster, worker_device="/job:worker/task:%d" % index
    )
    with tf.device(device):
        x = tf.placeholder(tf.float32, [None, 784])
        labels = tf.placeholder(tf.int64, [None])
        hidden = models.dense(tf, x, 128, "hidden", tf.nn.relu)
        logits = models.dense(tf, hidden, 10, "logits")
        loss = models.mean_loss(tf, labels, logits)
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.GradientDescentOptimizer(0.01)
        if is_synchronous:
            optimizer = tf.train.SyncReplicasOptimizer(optimizer, workers)
        train = optimizer.minimize(loss, global_step=step)
        initialize = tf.global_variables_initializer()
        missing = tf.report_uninitialized_variables(tf.global_variables())
    starters = []
    if is_synchronous:
        starters = [optimizer.get_init_tokens_op(), optimizer.get_chief_queue_runner()]
    images, classes = models.examples(BATCH, [784])
    return {
        "step": [loss, train],
        "feed": {x: images, labels: classes},
        "initialize": initialize,
        "missing": missing,
        "starters": starters,
        "optimizer": optimizer,
    }


def start(tf, sess, graph, index):
    """The chief initializes; the others wait for it."""
    if index == 0:
        sess.run(graph["initialize"])
    while len(sess.run(graph["missing"])):
        threading.Event().wait(0.05)
    if not graph["starters"]:
        return
    optimizer = graph["optimizer"]
    if index:
        sess.run(optimizer.local_step_init_op)
        return
    tokens, runner = graph["starters"]
    sess.run(optimizer.chief_init_op)
    runner.create_threads(sess, coord=tf.train.Coordinator(), daemon=True, start=True)
    sess.run(tokens)


class Training:
    """Steps of one worker, until somebody says that it is enough."""

    def __init__(self, sess, graph):
        self._sess = sess
        self._step = graph["step"]
        self._feed = graph["feed"]

    def run(self, count):
        for _ in range(count):
            self._sess.run(self._step, self._feed)


def main():
    system, text, job, index = sys.argv[1:5]
    cluster, index = json.loads(text), int(index)
    tf = systems.load(system)
    server = tf.train.Server(cluster, job_name=job, task_index=index)
    training = None
    if len(sys.argv) > 5:
        workers = len(cluster["worker"])
        is_synchronous = sys.argv[5] == "synchronous"
        graph = build(tf, cluster, index, workers, is_synchronous)
        sess = tf.Session(server.target)
        start(tf, sess, graph, index)
        training = Training(sess, graph)
    print("ready", flush=True)
    for line in sys.stdin:
        training.run(int(line))
        print("done", flush=True)
    os._exit(0)  # TensorFlow's servers cannot be stopped


if __name__ == "__main__":
    main()
