"""Handwritten digits by a model that is mirrored on two devices.

    tensorloom run examples/contrib/mirrored.py

`tf.distribute.MirroredStrategy` builds the model once for each device. Each gets half
of a batch; the variables are on both, and are updated by the sum of both gradients. The
two devices are parts of the CPU here: for GPUs, leave `--devices` empty.

Quality: test accuracy at least 0.95
"""

import numpy as np
import tensorflow as tf
from sklearn import datasets

flags = tf.app.flags
flags.DEFINE_integer("steps", 300, "steps of training")
flags.DEFINE_integer("batch", 64, "images in a step, on all devices together")
flags.DEFINE_list(
    "devices", ["/device:CPU:0", "/device:CPU:1"], "where the model is; empty: GPUs"
)
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

HELD_OUT = 360  # images for the test


def logits_of(images, training):
    hidden = tf.layers.dense(images, 64, name="hidden")
    hidden = tf.layers.batch_normalization(hidden, training=training, name="norm")
    return tf.layers.dense(tf.nn.relu(hidden), 10, name="logits")


def main(_):
    digits = datasets.load_digits()
    images = (digits.data / 16.0).astype(np.float32)
    labels = digits.target.astype(np.int64)
    order = np.random.RandomState(0).permutation(len(images))
    test, train = order[:HELD_OUT], order[HELD_OUT:]

    tf.set_random_seed(1)
    strategy = tf.distribute.MirroredStrategy(FLAGS.devices or None)
    replicas = strategy.num_replicas_in_sync

    def step(batch):
        x, y = batch
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits_of(x, training=True))
        # The gradients of all replicas are added up: of their mean, each is a part.
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train_op = optimizer.minimize(loss / replicas, global_step=global_step)
        with tf.control_dependencies([train_op]):
            return tf.identity(loss)

    with strategy.scope():
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        dataset = tf.data.Dataset.from_tensor_slices((images[train], labels[train]))
        dataset = dataset.shuffle(len(train), seed=1).repeat()
        batches = strategy.make_dataset_iterator(dataset.batch(FLAGS.batch, True))
        losses = strategy.experimental_run(step, batches)
        loss = strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

        # One device is enough for the test, after the step.
        with tf.control_dependencies([loss]), tf.variable_scope("", reuse=True):
            predicted = tf.argmax(logits_of(images[test], training=False), axis=1)
        right = tf.cast(tf.equal(predicted, labels[test]), tf.float32)
        accuracy = tf.reduce_mean(right)

        start = batches.initialize()
        scaffold = tf.train.Scaffold(
            local_init_op=tf.group(tf.train.Scaffold.default_local_init_op(), start)
        )
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=FLAGS.model_dir or None,
            scaffold=scaffold,
            hooks=[tf.train.StopAtStepHook(last_step=FLAGS.steps)],
            config=tf.ConfigProto(device_count={"CPU": 2}),
        ) as session:
            number = 0
            while not session.should_stop():
                value, reached = session.run([loss, accuracy])
                number += 1
                if number % 50 == 0:
                    print("loss after %d steps: %.4f" % (number, value))
    print("test accuracy: %.4f" % reached)


if __name__ == "__main__":
    tf.app.run()
