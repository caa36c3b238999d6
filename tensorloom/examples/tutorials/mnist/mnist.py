"""The network of the tutorials: two hidden layers over the pixels of MNIST."""

from __future__ import annotations

import importlib
import math
from typing import Any, Final

# By its public names, as a program would write it.
tf: Final = importlib.import_module("tensorloom")

NUM_CLASSES: Final = 10
IMAGE_SIZE: Final = 28
IMAGE_PIXELS: Final = IMAGE_SIZE * IMAGE_SIZE


def _layer(name: str, inputs: Any, units: int) -> Any:
    """A product with weights and a sum with biases, in a scope of its own."""
    size = int(inputs.shape[1])
    with tf.name_scope(name):
        stddev = 1.0 / math.sqrt(float(size))
        initial = tf.truncated_normal([size, units], stddev=stddev)
        weights = tf.Variable(initial, name="weights")
        biases = tf.Variable(tf.zeros([units]), name="biases")
        product = tf.matmul(inputs, weights) + biases
        return product if name == "softmax_linear" else tf.nn.relu(product)


def inference(images: Any, hidden1_units: int, hidden2_units: int) -> Any:
    """The logits `[batch, 10]` of images `[batch, 784]`."""
    hidden1 = _layer("hidden1", images, hidden1_units)
    hidden2 = _layer("hidden2", hidden1, hidden2_units)
    return _layer("softmax_linear", hidden2, NUM_CLASSES)


def loss(logits: Any, labels: Any) -> Any:
    """The mean cross-entropy of logits `[batch, 10]` and labels `[batch]`."""
    labels = tf.cast(labels, dtype=tf.int64)
    return tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)


def training(loss: Any, learning_rate: float) -> Any:
    """An operation that takes a step of gradient descent and counts it."""
    tf.summary.scalar("loss", loss)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate)
    global_step = tf.Variable(0, name="global_step", trainable=False)
    return optimizer.minimize(loss, global_step=global_step)


def evaluation(logits: Any, labels: Any) -> Any:
    """How many of the batch have their label as the largest logit: int32 scalar."""
    correct = tf.nn.in_top_k(predictions=logits, targets=labels, k=1)
    return tf.reduce_sum(tf.cast(correct, tf.int32))
