"""Softmax regression: one matrix that reads handwritten digits.

    tensorloom run examples/images/softmax_regression.py

The first network of every tutorial: placeholders, two variables, gradient descent, and
a session with a feed for each step.

Quality: test accuracy at least 0.93
"""

import digits
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 3000, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 100
LEARNING_RATE = 0.5
REPORT = 500


def main(_):
    data = digits.load()

    x = tf.placeholder(tf.float32, [None, 64], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    w = tf.Variable(tf.zeros([64, 10]), name="w")
    b = tf.Variable(tf.zeros([10]), name="b")
    y = tf.nn.softmax(tf.matmul(x, w) + b)

    truth = tf.one_hot(labels, 10)
    cross_entropy = tf.reduce_mean(-tf.reduce_sum(truth * tf.log(y), axis=1))
    correct = tf.equal(tf.argmax(y, 1), labels)
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.GradientDescentOptimizer(LEARNING_RATE)
    train = optimizer.minimize(cross_entropy, global_step=global_step)

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
            feed = {x: images, labels: answers}
            _, loss = sess.run([train, cross_entropy], feed)
            if (step + 1) % REPORT == 0:
                print("step %5d: loss %.4f" % (step + 1, loss))
        if FLAGS.model_dir:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", global_step)

        # Where ink speaks for a digit: the positive weights of each.
        print("what the matrix looks for, 0 to 9:")
        weights = np.maximum(sess.run(w).T, 0.0)
        print(digits.as_text(weights / max(weights.max(), 1e-6)))
        test = {x: data.test_images, labels: data.test_labels}
        print("test accuracy: %.4f" % sess.run(accuracy, test))


if __name__ == "__main__":
    tf.app.run()
