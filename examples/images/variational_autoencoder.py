"""A variational autoencoder: digits as draws of a distribution over codes.

    tensorloom run examples/images/variational_autoencoder.py

The encoder says a normal distribution of codes, the decoder the probability that each
pixel is ink (Kingma and Welling, 2014); `tf.distributions` draws from them and compares
them. The bound on an image's log-likelihood is what is trained and judged; a model that
knows the mean of each pixel and nothing else is shown beside it.

Quality: nats of a test image at most 19.0
"""

import digits
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 5000, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 64
CODE = 6
HIDDEN = 128
LEARNING_RATE = 0.003
REPORT = 500


def encoder(images):
    """A normal distribution of codes for each image."""
    with tf.variable_scope("encoder"):
        y = tf.layers.dense(images, HIDDEN, tf.nn.relu, name="hidden")
        mean = tf.layers.dense(y, CODE, name="mean")
        scale = tf.layers.dense(y, CODE, tf.nn.softplus, name="scale")
        return tf.distributions.Normal(mean, scale + 1e-4)


def decoder(codes):
    """The probability of ink for each pixel."""
    with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE):
        y = tf.layers.dense(codes, HIDDEN, tf.nn.relu, name="hidden")
        logits = tf.layers.dense(y, 64, name="pixels")
        return tf.distributions.Bernoulli(logits=logits)


def main(_):
    data = digits.load()
    ink = [(part > 0.45).astype(np.float32) for part in (data[0], data[2])]
    train_images, test_images = ink
    tf.set_random_seed(1)

    images = tf.placeholder(tf.float32, [None, 64], name="images")
    prior = tf.distributions.Normal(tf.zeros([CODE]), tf.ones([CODE]))
    codes = encoder(images)
    pixels = decoder(codes.sample(seed=2))
    likelihood = tf.reduce_sum(pixels.log_prob(images), axis=1)
    divergence = tf.reduce_sum(tf.distributions.kl_divergence(codes, prior), axis=1)
    bound = tf.reduce_mean(likelihood - divergence)
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.piecewise_constant(
        global_step, [2500, 4000], [LEARNING_RATE, LEARNING_RATE / 3, LEARNING_RATE / 9]
    )
    train = tf.train.AdamOptimizer(rate).minimize(-bound, global_step=global_step)
    drawn = decoder(prior.sample(10, seed=3)).mean()

    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        if FLAGS.model_dir:
            checkpoint = tf.train.latest_checkpoint(FLAGS.model_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
        for step in range(sess.run(global_step), FLAGS.steps):
            (some,) = digits.batch(step, BATCH, train_images)
            fetches = [train, bound, divergence]
            _, value, nats = sess.run(fetches, {images: some})
            if (step + 1) % REPORT == 0:
                print(
                    "step %5d: %.2f nats an image, %.2f of them for its code"
                    % (step + 1, -value, nats.mean())
                )
        if FLAGS.model_dir:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", global_step)

        print("digits that the model draws:")
        print(digits.as_text(sess.run(drawn)))
        feed = {images: test_images}
        found = np.mean([-sess.run(bound, feed) for _ in range(50)])

    p = np.clip(train_images.mean(axis=0), 0.01, 0.99)
    alone = -(test_images * np.log(p) + (1 - test_images) * np.log(1 - p)).sum(1).mean()
    print("nats of a test image, each pixel for itself: %.2f" % alone)
    print("nats of a test image: %.2f" % found)


if __name__ == "__main__":
    tf.app.run()
