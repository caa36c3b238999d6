"""One task of a cluster.

    python cluster_task.py SYSTEM CLUSTER_JSON JOB INDEX [TRAINING]

Runs in every system, on Python 3.7 too. Says "ready", then reads lines: a number of
training steps to run, answered by "done" when they are, or "rest". Ends when its
input does.
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
        cluster=cluster, worker_device=f"/job:worker/task:{index}"
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
    """Steps of one worker, in a thread.

    With `keeps_on` it trains until it is told to rest: in synchronous training the
    other workers wait for its gradients.
    """

    def __init__(self, sess, graph, keeps_on):
        self._sess = sess
        self._step = graph["step"]
        self._feed = graph["feed"]
        self._keeps_on = keeps_on
        self._count = self._goal = 0
        self._works = False
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    def run(self, count):
        """Waits for `count` more steps."""
        with self._changed:
            self._goal = self._count + count
            self._works = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._count >= self._goal)

    def rest(self):
        """Begins no other step."""
        self._works = False

    def _run(self):
        while True:
            if not self._works:
                with self._changed:
                    self._changed.wait_for(lambda: self._works)
            self._sess.run(self._step, self._feed)
            self._count += 1
            if self._count >= self._goal:
                with self._changed:
                    self._works = self._works and self._keeps_on
                    self._changed.notify_all()


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
        training = Training(sess, graph, is_synchronous)
    print("ready", flush=True)
    for line in sys.stdin:
        if line == "rest\n":
            training.rest()
        else:
            training.run(int(line))
            print("done", flush=True)
    os._exit(0)  # TensorFlow's servers cannot be stopped


if __name__ == "__main__":
    main()
