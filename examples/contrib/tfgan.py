"""A generative adversarial network that draws digits, with TFGAN.

    tensorloom run examples/contrib/tfgan.py

`tf.contrib.gan` builds the model of two functions, its losses and the operations that
train it; `gan_train` runs them in turns. TensorFlow had it up to 1.14.

Coverage says how good and how different the drawings are: the share of the test digits
that have a drawing as near as their fifth neighbour among themselves (Naeem et al.,
2020).

Quality: coverage at least 0.7
"""

import numpy as np
import tensorflow as tf
from sklearn import datasets

flags = tf.app.flags
flags.DEFINE_integer("steps", 6000, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS
tfgan = tf.contrib.gan

BATCH = 64
NOISE = 16
HIDDEN = 128
LEARNING_RATE = 0.0005


def generator(noise):
    """Digits drawn from noise."""
    y = tf.layers.dense(noise, HIDDEN, tf.nn.relu)
    y = tf.layers.dense(y, HIDDEN, tf.nn.relu)
    return tf.layers.dense(y, 64, tf.sigmoid)


def discriminator(images, unused_noise):
    """Logits: is it real?"""
    y = tf.layers.dense(images, HIDDEN, tf.nn.leaky_relu)
    y = tf.layers.dropout(y, 0.3, training=True)
    y = tf.layers.dense(y, HIDDEN, tf.nn.leaky_relu)
    return tf.layers.dense(y, 1)


def coverage(drawn, images, neighbour=5):
    """The share of `images` with a drawing near by; see above."""

    def distances(others):
        return ((images[:, np.newaxis] - others[np.newaxis]) ** 2).sum(axis=2)

    among_themselves = np.sort(distances(images), axis=1)[:, neighbour]
    return np.mean(distances(drawn).min(axis=1) <= among_themselves)


class Draw(tf.train.SessionRunHook):
    """Looks at drawings when training is over."""

    def __init__(self, drawn, images):
        self._drawn = drawn
        self._images = images

    def end(self, session):
        drawn = np.concatenate([session.run(self._drawn) for _ in range(23)])
        print("coverage: %.4f" % coverage(drawn, self._images))


def main(_):
    digits = datasets.load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    images = (digits.data[order] / 16.0).astype(np.float32)
    tf.set_random_seed(1)

    rows = tf.data.Dataset.from_tensor_slices(images[360:])
    rows = rows.shuffle(2000, seed=1).repeat().batch(BATCH)
    model = tfgan.gan_model(
        generator,
        discriminator,
        real_data=rows.make_one_shot_iterator().get_next(),
        generator_inputs=tf.random_normal([BATCH, NOISE]),
    )
    loss = tfgan.gan_loss(
        model,
        generator_loss_fn=tfgan.losses.modified_generator_loss,
        discriminator_loss_fn=tfgan.losses.modified_discriminator_loss,
    )
    train_ops = tfgan.gan_train_ops(
        model,
        loss,
        generator_optimizer=tf.train.AdamOptimizer(LEARNING_RATE, beta1=0.5),
        discriminator_optimizer=tf.train.AdamOptimizer(LEARNING_RATE, beta1=0.5),
    )
    tfgan.gan_train(
        train_ops,
        FLAGS.model_dir or None,
        hooks=[
            tf.train.StopAtStepHook(last_step=FLAGS.steps),
            Draw(model.generated_data, images[:360]),
        ],
        save_summaries_steps=None,
        save_checkpoint_secs=600 if FLAGS.model_dir else None,
    )


if __name__ == "__main__":
    tf.app.run()
