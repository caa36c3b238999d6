"""A convolutional network trained for 8-bit integers, with `tf.contrib.quantize`.

    tensorloom run examples/contrib/quantization_aware.py

`create_training_graph` folds batch normalizations into the convolutions and rounds
weights and activations, so that training gets used to it. `create_eval_graph` rewrites
a second graph, for tests: weights and outputs of its layers have 256 values at most.

Quality: test accuracy at least 0.96
"""

import os
import tempfile

import numpy as np
import tensorflow as tf
from sklearn import datasets

flags = tf.app.flags
flags.DEFINE_integer("steps", 600, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS
layers = tf.contrib.layers

BATCH = 64
LEARNING_RATE = 0.003
DELAY = 200
REPORT = 100


def load():
    """Training images and labels, test images and labels."""
    digits = datasets.load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    images = (digits.data[order] / 16.0).astype(np.float32).reshape([-1, 8, 8, 1])
    labels = digits.target[order].astype(np.int64)
    return images[360:], labels[360:], images[:360], labels[:360]


def network(images, training):
    """Logits of the ten classes."""
    arguments = {
        "normalizer_fn": layers.batch_norm,
        "normalizer_params": {
            "is_training": training,
            "fused": True,
            "decay": 0.9,
            "scale": True,
        },
        "activation_fn": tf.nn.relu6,
    }
    y = layers.conv2d(images, 16, 3, scope="first", **arguments)
    y = layers.conv2d(y, 24, 3, stride=2, scope="second", **arguments)
    y = layers.conv2d(y, 32, 3, stride=2, scope="third", **arguments)
    y = layers.flatten(y)
    return layers.fully_connected(y, 10, activation_fn=None, scope="logits")


def inputs():
    """Placeholders of images and labels."""
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    return images, tf.placeholder(tf.int64, [None], name="labels")


def train(images, labels, model_dir):
    """Trains, and returns the checkpoint that it wrote."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        fed = inputs()
        logits = network(fed[0], training=True)
        loss = tf.losses.sparse_softmax_cross_entropy(fed[1], logits)
        tf.contrib.quantize.create_training_graph(quant_delay=DELAY)
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(LEARNING_RATE)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        for update in updates:
            # The folded weights have the moving variance in them: it changes after
            # they were used, not at some time beside it.
            tf.contrib.graph_editor.add_control_inputs(update, loss.op)
        with tf.control_dependencies(updates):
            step_op = optimizer.minimize(loss, global_step=global_step)
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            checkpoint = tf.train.latest_checkpoint(model_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
            for step in range(sess.run(global_step), FLAGS.steps):
                rows = np.random.RandomState(step).choice(len(labels), BATCH, False)
                feed = {fed[0]: images[rows], fed[1]: labels[rows]}
                _, value = sess.run([step_op, loss], feed)
                if (step + 1) % REPORT == 0:
                    print("step %5d: loss %.4f" % (step + 1, value))
            return saver.save(sess, os.path.join(model_dir, "model.ckpt"), global_step)


def test(images, labels, checkpoint):
    """Tests as an 8-bit engine would compute; prints what it found."""
    with tf.Graph().as_default():
        fed = inputs()
        logits = network(fed[0], training=False)
        tf.contrib.quantize.create_eval_graph()
        accuracy = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), fed[1])))
        rounded = tf.get_default_graph().get_tensor_by_name(
            "second/act_quant/FakeQuantWithMinMaxVars:0"
        )
        count = tf.size(tf.unique(tf.reshape(rounded, [-1]))[0])
        with tf.Session() as sess:
            tf.train.Saver().restore(sess, checkpoint)
            feed = {fed[0]: images, fed[1]: labels}
            print("different values of an activation: %d" % sess.run(count, feed))
            print("test accuracy: %.4f" % sess.run(accuracy, feed))


def main(_):
    train_images, train_labels, test_images, test_labels = load()
    model_dir = FLAGS.model_dir or tempfile.mkdtemp()
    if not os.path.isdir(model_dir):
        os.makedirs(model_dir)
    checkpoint = train(train_images, train_labels, model_dir)
    test(test_images, test_labels, checkpoint)


if __name__ == "__main__":
    tf.app.run()
