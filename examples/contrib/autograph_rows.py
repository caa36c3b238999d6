"""A recurrent network written with Python's loops and conditions, with `tf.autograph`.

    tensorloom run examples/contrib/autograph_rows.py

A digit is read row by row by a gated cell, which is a `for` loop over `tf.range`. A
`while` loop in `Dataset.map` moves each digit up to the first row that has ink, and
`tf.function` counts the longest run of right answers, with `if` in a `for`. AutoGraph
makes `tf.while_loop` and `tf.cond` of them.

Quality: test accuracy at least 0.95
"""

import os
import tempfile

import numpy as np
import tensorflow as tf
from sklearn import datasets

flags = tf.app.flags
flags.DEFINE_integer("steps", 800, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 64
UNITS = 48
LEARNING_RATE = 0.01
REPORT = 100


def load():
    """Training images and labels, test images and labels."""
    digits = datasets.load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    images = (digits.data[order] / 16.0).astype(np.float32).reshape([-1, 8, 8])
    labels = digits.target[order].astype(np.int64)
    return images[360:], labels[360:], images[:360], labels[:360]


def moved_up(image):
    """An image without the empty rows above the digit; they come below."""
    empty = 0
    while empty < 7 and tf.reduce_sum(image[empty]) < 0.5:
        empty += 1
    return tf.roll(image, -empty, axis=0)


class Reader(object):
    """The cell, and what it makes of the rows of images."""

    def __init__(self):
        with tf.variable_scope("reader", initializer=tf.glorot_uniform_initializer()):
            self.kernel = tf.get_variable("kernel", [8 + UNITS, 2 * UNITS])
            self.bias = tf.get_variable(
                "bias", [2 * UNITS], initializer=tf.zeros_initializer()
            )
            self.output = tf.get_variable("output", [UNITS, 10])

    def cell(self, row, state):
        """The next state, from a row of each image."""
        both = tf.matmul(tf.concat([row, state], 1), self.kernel) + self.bias
        gate, candidate = tf.split(both, 2, axis=1)
        gate = tf.sigmoid(gate)
        return gate * state + (1.0 - gate) * tf.tanh(candidate)

    def logits(self, images):
        """Logits of the ten classes, of `[batch, 8, 8]` images."""
        rows = tf.transpose(images, [1, 0, 2])
        state = tf.zeros([tf.shape(images)[0], UNITS])
        state.set_shape([None, UNITS])
        for index in tf.range(8):
            state = self.cell(rows[index], state)
        return tf.matmul(state, self.output)


@tf.function
def longest_run(right):
    """How many answers in a row are right, at most."""
    longest = 0
    run = 0
    for answer in right:
        if answer:
            run += 1
        else:
            run = 0
        if run > longest:
            longest = run
    return longest


def prepared(images):
    """A tensor of all images, moved up."""
    dataset = tf.data.Dataset.from_tensor_slices(images).map(moved_up)
    return dataset.batch(len(images)).make_one_shot_iterator().get_next()


def main(_):
    train_images, train_labels, test_images, test_labels = load()
    all_prepared = prepared(train_images), prepared(test_images)
    model_dir = FLAGS.model_dir or tempfile.mkdtemp()
    tf.set_random_seed(1)
    images = tf.placeholder(tf.float32, [None, 8, 8], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    reader = Reader()
    logits = tf.autograph.to_graph(reader.logits)(reader, images)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    right = tf.equal(tf.argmax(logits, 1), labels)
    accuracy = tf.reduce_mean(tf.to_float(right))
    run = longest_run(right)
    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdamOptimizer(LEARNING_RATE)
    step_op = optimizer.minimize(loss, global_step=global_step)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        checkpoint = tf.train.latest_checkpoint(model_dir)
        if checkpoint:
            saver.restore(sess, checkpoint)
        train_images, test_images = sess.run(all_prepared)
        for step in range(sess.run(global_step), FLAGS.steps):
            rows = np.random.RandomState(step).choice(len(train_labels), BATCH, False)
            feed = {images: train_images[rows], labels: train_labels[rows]}
            _, value = sess.run([step_op, loss], feed)
            if (step + 1) % REPORT == 0:
                print("step %5d: loss %.4f" % (step + 1, value))
        saver.save(sess, os.path.join(model_dir, "model.ckpt"), global_step)
        feed = {images: test_images, labels: test_labels}
        reached, longest = sess.run([accuracy, run], feed)
        print("right answers in a row: %d" % longest)
        print("test accuracy: %.4f" % reached)


if __name__ == "__main__":
    tf.app.run()
