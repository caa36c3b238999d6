"""A generative adversarial network that draws digits.

    tensorloom run examples/images/generative_adversarial.py

Two networks in one graph, each with its own variables and its own optimizer: one draws
digits from noise, the other tells drawn ones from real ones (Goodfellow et al., 2014).

Coverage says how good and how different the drawings are: the share of the test digits
that have a drawing as near as their fifth neighbour among themselves (Naeem et al.,
2020). Real digits of the training set reach what is printed beside it.

Quality: coverage at least 0.75
"""

import digits
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 6000, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 64
NOISE = 16
HIDDEN = 128
LEARNING_RATE = 0.0005
REPORT = 500


def generator(noise):
    """Digits drawn from noise."""
    with tf.variable_scope("generator"):
        y = tf.layers.dense(noise, HIDDEN, tf.nn.relu)
        y = tf.layers.dense(y, HIDDEN, tf.nn.relu)
        return tf.layers.dense(y, 64, tf.sigmoid)


def discriminator(images, reuse):
    """Logits: is it real?"""
    with tf.variable_scope("discriminator", reuse=reuse):
        y = tf.layers.dense(images, HIDDEN, tf.nn.leaky_relu, name="first")
        y = tf.layers.dropout(y, 0.3, training=True)
        y = tf.layers.dense(y, HIDDEN, tf.nn.leaky_relu, name="second")
        return tf.layers.dense(y, 1, name="logits")


def coverage(drawn, images, neighbour=5):
    """The share of `images` with a drawing near by; see above."""

    def distances(others):
        return ((images[:, np.newaxis] - others[np.newaxis]) ** 2).sum(axis=2)

    among_themselves = np.sort(distances(images), axis=1)[:, neighbour]
    return np.mean(distances(drawn).min(axis=1) <= among_themselves)


def main(_):
    data = digits.load()
    tf.set_random_seed(1)

    real = tf.placeholder(tf.float32, [None, 64], name="real")
    noise = tf.random_normal([tf.shape(real)[0], NOISE], name="noise")
    drawn = generator(noise)
    real_logits = discriminator(real, reuse=False)
    drawn_logits = discriminator(drawn, reuse=True)
    entropy = tf.losses.sigmoid_cross_entropy
    discriminator_loss = entropy(
        tf.ones_like(real_logits), real_logits, label_smoothing=0.1
    ) + entropy(tf.zeros_like(drawn_logits), drawn_logits)
    generator_loss = entropy(tf.ones_like(drawn_logits), drawn_logits)

    global_step = tf.train.get_or_create_global_step()
    train_discriminator = tf.train.AdamOptimizer(LEARNING_RATE, beta1=0.5).minimize(
        discriminator_loss, var_list=tf.trainable_variables("discriminator")
    )
    train_generator = tf.train.AdamOptimizer(LEARNING_RATE, beta1=0.5).minimize(
        generator_loss,
        var_list=tf.trainable_variables("generator"),
        global_step=global_step,
    )

    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        if FLAGS.model_dir:
            checkpoint = tf.train.latest_checkpoint(FLAGS.model_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
        for step in range(sess.run(global_step), FLAGS.steps):
            (some,) = digits.batch(step, BATCH, data.train_images)
            feed = {real: some}
            _, tells = sess.run([train_discriminator, discriminator_loss], feed)
            _, draws = sess.run([train_generator, generator_loss], feed)
            if (step + 1) % REPORT == 0:
                print(
                    "step %5d: loss of who tells %.3f, of who draws %.3f"
                    % (step + 1, tells, draws)
                )
        if FLAGS.model_dir:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", global_step)
        pictures = sess.run(drawn, {real: data.train_images})

    print("drawn:")
    print(digits.as_text(pictures[:10]))
    print(
        "coverage by real digits: %.4f" % coverage(data.train_images, data.test_images)
    )
    print("coverage: %.4f" % coverage(pictures, data.test_images))


if __name__ == "__main__":
    tf.app.run()
