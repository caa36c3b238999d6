"""`tf.contrib.slim`: a network with argument scopes trains."""

from __future__ import annotations

import numpy as np

import tensorloom as tf
from tensorloom.contrib import slim


def test_a_network_with_argument_scopes_trains() -> None:
    random = np.random.RandomState(0)
    brightness = random.rand(16, 1, 1, 1)
    images = (brightness + 0.1 * random.rand(16, 8, 8, 1)).astype(np.float32)
    labels = (images.mean((1, 2, 3)) > 0.5).astype(np.int32)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        with slim.arg_scope(
            [slim.conv2d, slim.fully_connected],
            weights_initializer=tf.truncated_normal_initializer(stddev=0.1),
            weights_regularizer=slim.l2_regularizer(0.001),
        ):
            net = slim.repeat(images, 2, slim.conv2d, 4, [3, 3], scope="conv")
            net = slim.max_pool2d(net, [2, 2])
            logits = slim.fully_connected(slim.flatten(net), 2, activation_fn=None)
        assert slim.get_model_variables() == slim.get_variables()
        assert [v.op.name for v in slim.get_variables("conv")] == [
            "conv/conv_1/weights",
            "conv/conv_1/biases",
            "conv/conv_2/weights",
            "conv/conv_2/biases",
        ]
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        step = tf.train.AdamOptimizer(0.03).minimize(loss)
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(80):
            session.run(step)
        assert session.run(loss) < 0.8 * before
        assert len(tf.losses.get_regularization_losses()) == 3


def test_layers_are_in_modules_of_slim_too() -> None:
    assert slim.layers.conv2d is slim.conv2d
    assert slim.initializers.xavier_initializer is slim.xavier_initializer
    assert slim.regularizers.l2_regularizer is slim.l2_regularizer
    assert not hasattr(slim.layers, "optimize_loss")
