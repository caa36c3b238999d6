"""Workers train side by side in `MonitoredTrainingSession`s, variables on a server.

    tensorloom cluster --ps 1 --workers 2 examples/distributed/monitored_workers.py

Every task runs this program; TF_CONFIG says which one it is. Worker 0 is the chief: it
initializes or restores the variables and saves them; the others wait for it. If a task
is lost, the session goes on from the last checkpoint.

Quality: test accuracy at least 0.96
"""

import json
import os

import numpy as np
import tensorflow as tf
from sklearn import datasets

flags = tf.app.flags
flags.DEFINE_integer("steps", 2000, "steps of all workers together")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 50
HIDDEN = 100
LEARNING_RATE = 0.1
REPORT = 250


def load_data():
    """Digits as rows of 64 floats in [0, 1] and their labels: training, then test."""
    digits = datasets.load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    images = (digits.data[order] / 16.0).astype(np.float32)
    labels = digits.target[order].astype(np.int64)
    return images[360:], labels[360:], images[:360], labels[:360]


def network(images):
    """Logits of the ten classes."""
    y = tf.layers.dense(images, HIDDEN, tf.nn.relu, name="hidden")
    return tf.layers.dense(y, 10, name="logits")


class Test(tf.train.SessionRunHook):
    """Calls a function with the session when training is over."""

    def __init__(self, test):
        self._test = test

    def end(self, session):
        self._test(session)


def work(server, cluster, index):
    """Trains until all workers together have made the steps."""
    train_images, train_labels, test_images, test_labels = load_data()
    tf.set_random_seed(1)
    device = tf.train.replica_device_setter(
        cluster=cluster, worker_device="/job:worker/task:%d" % index
    )
    with tf.device(device):
        images = tf.placeholder(tf.float32, [None, 64], name="images")
        labels = tf.placeholder(tf.int64, [None], name="labels")
        logits = network(images)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        right = tf.equal(tf.argmax(logits, 1), labels)
        accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
        global_step = tf.train.get_or_create_global_step()
        rate = tf.train.polynomial_decay(LEARNING_RATE, global_step, FLAGS.steps, 0.001)
        optimizer = tf.train.MomentumOptimizer(rate, 0.9, use_nesterov=True)
        train = optimizer.minimize(loss, global_step=global_step)
        with tf.control_dependencies([train]):
            step = tf.identity(global_step)  # after it, not at some time beside it

    def test(session):
        found = session.run(accuracy, {images: test_images, labels: test_labels})
        print("test accuracy: %.4f" % found)

    random = np.random.RandomState(index)
    # A worker needs the parameter servers and itself, not the other workers.
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % index])
    with tf.train.MonitoredTrainingSession(
        master=server.target,
        is_chief=index == 0,
        checkpoint_dir=FLAGS.model_dir or None,
        hooks=[tf.train.StopAtStepHook(last_step=FLAGS.steps), Test(test)],
        save_checkpoint_steps=500,
        save_summaries_steps=None,
        save_summaries_secs=None,
        log_step_count_steps=None,
        config=config,
    ) as session:
        mine = 0
        while not session.should_stop():
            rows = random.randint(0, len(train_images), BATCH)
            feed = {images: train_images[rows], labels: train_labels[rows]}
            done, value = session.run([step, loss], feed)
            mine += 1
            if mine % REPORT == 0:
                print("step %5d: loss %.4f, %d steps here" % (done, value, mine))


def main(_):
    config = json.loads(os.environ["TF_CONFIG"])
    task = config["task"]
    cluster = tf.train.ClusterSpec(config["cluster"])
    server = tf.train.Server(cluster, job_name=task["type"], task_index=task["index"])
    if task["type"] == "ps":
        server.join()  # until the cluster is stopped
    else:
        work(server, cluster, task["index"])


if __name__ == "__main__":
    tf.app.run()
