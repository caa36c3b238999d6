"""An autoencoder: 64 pixels through eight numbers and back.

    tensorloom run examples/images/autoencoder.py

The result stands beside the best that a linear map can do with as many numbers (the
principal components).

Quality: variance explained at least 0.80
"""

import digits
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 4000, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 128
CODE = 8
HIDDEN = 96
LEARNING_RATE = 0.002
REPORT = 500


def layer(x, units, name, activation):
    """A fully connected layer."""
    with tf.variable_scope(name):
        weights = tf.get_variable("weights", [x.shape[1].value, units])
        biases = tf.get_variable("biases", [units], initializer=tf.zeros_initializer())
        return activation(tf.matmul(x, weights) + biases)


def encode(images):
    """Eight numbers for each image."""
    with tf.variable_scope("encoder"):
        y = layer(images, HIDDEN, "hidden", tf.nn.elu)
        return layer(y, CODE, "code", tf.identity)


def decode(codes):
    """Images from such numbers."""
    with tf.variable_scope("decoder"):
        y = layer(codes, HIDDEN, "hidden", tf.nn.elu)
        return layer(y, 64, "pixels", tf.sigmoid)


def explained(images, found, mean):
    """The share of the pixels' variance that is found again."""
    return 1.0 - np.sum((images - found) ** 2) / np.sum((images - mean) ** 2)


def main(_):
    data = digits.load()
    tf.set_random_seed(1)

    images = tf.placeholder(tf.float32, [None, 64], name="images")
    decoded = decode(encode(images))
    loss = tf.losses.mean_squared_error(images, decoded)
    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.RMSPropOptimizer(LEARNING_RATE, momentum=0.5)
    gradients = optimizer.compute_gradients(loss)
    gradients = [(tf.clip_by_norm(g, 1.0), v) for g, v in gradients]
    train = optimizer.apply_gradients(gradients, global_step=global_step)

    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        if FLAGS.model_dir:
            checkpoint = tf.train.latest_checkpoint(FLAGS.model_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
        for step in range(sess.run(global_step), FLAGS.steps):
            (some,) = digits.batch(step, BATCH, data.train_images)
            _, value = sess.run([train, loss], {images: some})
            if (step + 1) % REPORT == 0:
                print("step %5d: squared error of a pixel %.4f" % (step + 1, value))
        if FLAGS.model_dir:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", global_step)
        found = sess.run(decoded, {images: data.test_images})

    mean = data.train_images.mean(axis=0)
    _, _, components = np.linalg.svd(data.train_images - mean, full_matrices=False)
    plane = components[:CODE]
    linear = mean + (data.test_images - mean).dot(plane.T).dot(plane)
    print("digits of the test set; from eight numbers:")
    print(digits.as_text(np.concatenate([data.test_images[:5], found[:5]])))
    by_lines = explained(data.test_images, linear, mean)
    print("variance explained by %d principal components: %.4f" % (CODE, by_lines))
    print("variance explained: %.4f" % explained(data.test_images, found, mean))


if __name__ == "__main__":
    tf.app.run()
