"""A residual network of `slim.nets` in slim's loops of training and evaluation.

    tensorloom run examples/contrib/slim_resnet.py

Argument scopes say once how layers begin, normalize and decay. Training writes a
checkpoint, and goes on from the one that it finds; evaluation reads it, with a graph
of its own.

Quality: test accuracy at least 0.96
"""

import tempfile

import numpy as np
import tensorflow as tf
from sklearn import datasets
from tensorflow.contrib.slim.python.slim.nets import resnet_v2

slim = tf.contrib.slim

flags = tf.app.flags
flags.DEFINE_integer("steps", 500, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 64
TEST_BATCH = 60
LEARNING_RATE = 0.1


def load():
    """Scanned digits of 8 by 8 pixels: 1437 to learn from, 360 to be tested on."""
    digits = datasets.load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    images = (digits.data[order] / 8.0 - 1.0).astype(np.float32).reshape([-1, 8, 8, 1])
    labels = digits.target[order].astype(np.int64)
    return (images[360:], labels[360:]), (images[:360], labels[:360])


def network(images, is_training):
    """Logits of the ten classes, and the results of the layers by name."""
    blocks = [
        resnet_v2.resnet_v2_block("block1", base_depth=8, num_units=2, stride=2),
        resnet_v2.resnet_v2_block("block2", base_depth=16, num_units=2, stride=1),
    ]
    scope = resnet_v2.resnet_arg_scope(weight_decay=1e-4, batch_norm_decay=0.9)
    with slim.arg_scope(scope):
        # The images are small: the network's own first layers would shrink them away.
        net = slim.conv2d(
            images, 16, 3, activation_fn=None, normalizer_fn=None, scope="first"
        )
        net, end_points = resnet_v2.resnet_v2(
            net,
            blocks,
            num_classes=10,
            is_training=is_training,
            include_root_block=False,
            scope="digits",
        )
    return tf.squeeze(net, [1, 2]), end_points


def train(data, folder):
    """Trains until the step that was asked for; writes a checkpoint."""
    tf.set_random_seed(5)
    examples = tf.data.Dataset.from_tensor_slices(data)
    examples = examples.shuffle(len(data[1]), seed=3).repeat().batch(BATCH)
    images, labels = examples.make_one_shot_iterator().get_next()
    logits, _ = network(images, is_training=True)
    slim.losses.softmax_cross_entropy(logits, slim.one_hot_encoding(labels, 10))
    decay = tf.losses.get_regularization_loss()
    loss = slim.losses.get_total_loss()
    step = tf.train.get_or_create_global_step()
    rate = tf.train.cosine_decay(LEARNING_RATE, step, FLAGS.steps)
    train_op = slim.learning.create_train_op(
        loss, tf.train.MomentumOptimizer(rate, 0.9), clip_gradient_norm=4.0
    )

    def begin(session):
        slim.model_analyzer.analyze_vars(slim.get_model_variables(), print_info=True)
        print("loss of the weights at the beginning: %.4f" % session.run(decay))

    return slim.learning.train(
        train_op,
        folder,
        number_of_steps=FLAGS.steps,
        log_every_n_steps=100,
        init_fn=begin,
        save_summaries_secs=0,
        save_interval_secs=0,  # at the end alone
    )


def evaluate(data, folder):
    """The accuracy of the last checkpoint on all of the data."""
    examples = tf.data.Dataset.from_tensor_slices(data).batch(TEST_BATCH)
    images, labels = examples.make_one_shot_iterator().get_next()
    logits, _ = network(images, is_training=False)
    values, updates = slim.metrics.aggregate_metric_map(
        {"accuracy": slim.metrics.streaming_accuracy(tf.argmax(logits, 1), labels)}
    )
    tf.train.get_or_create_global_step()
    return slim.evaluation.evaluate_once(
        "",
        tf.train.latest_checkpoint(folder),
        folder,
        num_evals=len(data[1]) // TEST_BATCH,
        eval_op=list(updates.values()),
        final_op=values["accuracy"],
    )


def main(_):
    tf.logging.set_verbosity(tf.logging.WARN)
    training_data, test_data = load()
    folder = FLAGS.model_dir or tempfile.mkdtemp()
    with tf.Graph().as_default():
        print("loss at the end: %.4f" % train(training_data, folder))
    with tf.Graph().as_default():
        print("test accuracy: %.4f" % evaluate(test_data, folder))


if __name__ == "__main__":
    tf.app.run()
