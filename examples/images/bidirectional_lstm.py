"""A bidirectional LSTM reads digits line by line, from above and from below.

    tensorloom run examples/images/bidirectional_lstm.py

Each line of eight pixels is a step of the sequence. Digits get a random number of empty
lines below, and the network is told how long each is, as with sentences.

Quality: test accuracy at least 0.95
"""

import digits
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 700, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 64
UNITS = 48
LONGEST = 10
LEARNING_RATE = 0.3
REPORT = 100


def sequences(images, seed):
    """Digits with up to two blank lines below; and how many lines each has."""
    lengths = np.random.RandomState(seed).randint(8, LONGEST + 1, len(images))
    lines = np.zeros([len(images), LONGEST, 8], np.float32)
    lines[:, :8] = images.reshape([-1, 8, 8])
    return lines, lengths


def network(lines, lengths):
    """Logits of the ten classes from the last states of both directions."""
    cells = [tf.nn.rnn_cell.LSTMCell(UNITS, forget_bias=1.0) for _ in range(2)]
    _, (forward, backward) = tf.nn.bidirectional_dynamic_rnn(
        cells[0], cells[1], lines, sequence_length=lengths, dtype=tf.float32
    )
    y = tf.concat([forward.h, backward.h], axis=1)
    weights = tf.get_variable("weights", [2 * UNITS, 10])
    biases = tf.get_variable("biases", [10], initializer=tf.zeros_initializer())
    return tf.matmul(y, weights) + biases


def main(_):
    data = digits.load()
    tf.set_random_seed(1)

    lines = tf.placeholder(tf.float32, [None, LONGEST, 8], name="lines")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    logits = network(lines, lengths)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    right = tf.equal(tf.argmax(logits, 1), labels)
    accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    global_step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    train = tf.train.AdagradOptimizer(LEARNING_RATE).apply_gradients(
        zip(gradients, variables), global_step=global_step
    )

    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        if FLAGS.model_dir:
            checkpoint = tf.train.latest_checkpoint(FLAGS.model_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
        for step in range(sess.run(global_step), FLAGS.steps):
            images, answers = digits.batch(
                step, BATCH, data.train_images, data.train_labels
            )
            read, sizes = sequences(images, seed=step)
            feed = {lines: read, lengths: sizes, labels: answers}
            fetches = [train, loss, norm]
            _, value, size = sess.run(fetches, feed)
            if (step + 1) % REPORT == 0:
                print("step %5d: loss %.4f, gradient %.3f" % (step + 1, value, size))
        if FLAGS.model_dir:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", global_step)

        read, sizes = sequences(data.test_images, seed=-1 % 2**32)
        feed = {lines: read, lengths: sizes, labels: data.test_labels}
        print("test accuracy: %.4f" % sess.run(accuracy, feed))


if __name__ == "__main__":
    tf.app.run()
