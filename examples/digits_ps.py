"""Trains a network on handwritten digits with parameter servers.

    tensorloom cluster --ps 1 --workers 2 examples/digits_ps.py

Every task of the cluster runs this program; the TF_CONFIG variable says which one it
is. Workers train on their own, at their own pace, on variables that the parameter
servers hold (asynchronous between-graph replication). It also runs under TensorFlow
1.15 when the import says so.
"""

import json
import os
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import tensorloom as tf

STEPS = 3000  # of all workers together
BATCH = 32
HIDDEN = 256
LEARNING_RATE = 0.5  # at the start; it falls to nothing at the last step
NOISE = 0.2  # added to the images, so that the network does not learn them by heart
REPORT_EVERY = 300


def load_data():
    """8x8 scans as rows of 64 floats in [0, 1], split into training and test set."""
    digits = load_digits()
    images = (digits.data / 16.0).astype(np.float32)
    labels = digits.target.astype(np.int64)
    return train_test_split(
        images, labels, test_size=0.2, random_state=0, stratify=labels
    )


def build_network(images, labels):
    """Loss, number of correct answers, and the operation that trains."""
    hidden_weights = tf.get_variable("hidden/weights", [64, HIDDEN])
    hidden_bias = tf.get_variable("hidden/bias", [HIDDEN])
    hidden = tf.nn.relu(tf.matmul(images, hidden_weights) + hidden_bias)
    weights = tf.get_variable("logits/weights", [HIDDEN, 10])
    bias = tf.get_variable("logits/bias", [10])
    logits = tf.matmul(hidden, weights) + bias
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    correct = tf.reduce_mean(
        tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32)
    )
    step = tf.train.get_or_create_global_step()
    rate = tf.train.polynomial_decay(LEARNING_RATE, step, STEPS, 0.0)
    optimizer = tf.train.GradientDescentOptimizer(rate)
    return loss, correct, optimizer.minimize(loss, global_step=step), step


def wait_until_initialized(sess, missing):
    """The chief initializes the variables; the others wait for it."""
    while len(sess.run(missing)):
        time.sleep(0.1)


def work(server, cluster, index):
    """Trains until all workers together have made `STEPS` steps."""
    train_images, test_images, train_labels, test_labels = load_data()
    device = tf.train.replica_device_setter(
        cluster=cluster, worker_device=f"/job:worker/task:{index}"
    )
    with tf.device(device):
        images = tf.placeholder(tf.float32, [None, 64])
        labels = tf.placeholder(tf.int64, [None])
        loss, accuracy, train, step = build_network(images, labels)
        initialize = tf.global_variables_initializer()
        missing = tf.report_uninitialized_variables()
    random = np.random.RandomState(index)
    # A worker needs the parameter servers and itself, not the other workers.
    config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
    with tf.Session(server.target, config=config) as sess:
        if index == 0:
            sess.run(initialize)
        wait_until_initialized(sess, missing)
        done, count, started = 0, 0, time.time()
        while done < STEPS:
            batch = random.randint(0, len(train_images), BATCH)
            noise = NOISE * random.standard_normal((BATCH, 64))
            feed = {images: train_images[batch] + noise, labels: train_labels[batch]}
            value, done, _ = sess.run([loss, step, train], feed)
            count += 1
            if count % REPORT_EVERY == 0:
                rate = count / (time.time() - started)
                print(f"step {done}: loss {value:.3f}, {rate:.0f} steps/s here")
        test = {images: test_images, labels: test_labels}
        found = sess.run(accuracy, test)
        print(f"test accuracy {100 * found:.1f} % after {done} steps, {count} here")
    return float(found)


def main():
    """Runs the task that TF_CONFIG names."""
    config = json.loads(os.environ["TF_CONFIG"])
    task = config["task"]
    cluster = tf.train.ClusterSpec(config["cluster"])
    server = tf.train.Server(cluster, job_name=task["type"], task_index=task["index"])
    if task["type"] == "ps":
        server.join()  # until the cluster is stopped
        return 0
    found = work(server, cluster, task["index"])
    return 0 if found >= 0.97 else 1


if __name__ == "__main__":
    raise SystemExit(main())
