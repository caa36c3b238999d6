"""Graphs after Grappler: it fuses ops, and leaves notes on shapes in attrs.

`graph_recorder.py` optimizes what these programs build.
"""

import numpy as np


def _values(*shape):
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7) * 0.5).reshape(shape).astype(np.float32)


IMAGE = _values(2, 6, 6, 3)
FILTERS = _values(3, 3, 3, 4)
BIAS = _values(4)
STATISTICS = [_values(4) + 1.0, _values(4), _values(4) * 0.3, np.abs(_values(4)) + 0.5]


def _fed(tf, fetches, image=IMAGE, name="x:0"):
    return [tf.identity(t) * 1.5 for t in fetches], [{name: image.tolist()}]


def _activations(tf):
    return [
        tf.nn.relu,
        tf.nn.relu6,
        tf.nn.elu,
        lambda x: tf.nn.leaky_relu(x, 0.3),
        tf.tanh,
        tf.sigmoid,
        tf.identity,
    ]


def fused_convolutions(tf):
    x = tf.placeholder(tf.float32, [None, 6, 6, 3], name="x")
    fetches = []
    for activation in _activations(tf):
        product = tf.nn.conv2d(x, FILTERS, [1, 1, 1, 1], "SAME")
        fetches.append(activation(tf.nn.bias_add(product, BIAS)))
    return _fed(tf, fetches)


def fused_convolutions_and_norms(tf):
    x = tf.placeholder(tf.float32, [None, 6, 6, 3], name="x")
    fetches = []
    for activation in _activations(tf):
        product = tf.nn.conv2d(x, FILTERS, [1, 2, 2, 1], "VALID")
        normal, _, _ = tf.nn.fused_batch_norm(
            product, *STATISTICS, epsilon=1e-3, is_training=False
        )
        fetches.append(activation(normal))
    return _fed(tf, fetches)


def fused_depthwise_convolutions(tf):
    x = tf.placeholder(tf.float32, [None, 6, 6, 3], name="x")
    fetches = []
    for activation in _activations(tf):
        product = tf.nn.depthwise_conv2d(x, FILTERS[..., :2], [1, 1, 1, 1], "SAME")
        fetches.append(activation(tf.nn.bias_add(product, _values(6))))
    return _fed(tf, fetches)


def fused_products(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    fetches = [
        activation(tf.nn.bias_add(tf.matmul(x, FILTERS[0, 0]), BIAS))
        for activation in _activations(tf)
    ]
    return _fed(tf, fetches, _values(5, 3))


def fused_norms(tf):
    x = tf.placeholder(tf.float32, [2, 6, 6, 4], name="x")
    fetches = []
    for inputs, training in ((STATISTICS, False), (STATISTICS[:2], True)):
        normal, _, _ = tf.nn.fused_batch_norm(x, *inputs, is_training=training)
        fetches += [tf.nn.relu(normal), tf.nn.relu(normal + x)]
    return _fed(tf, fetches, _values(2, 6, 6, 4))


def fused_volumes(tf):
    x = tf.placeholder(tf.float32, [1, 3, 4, 4, 3], name="x")
    filters = _values(2, 2, 2, 3, 4)
    product = tf.nn.conv3d(x, filters, strides=[1] * 5, padding="SAME")
    fetches = [tf.nn.relu(tf.nn.bias_add(product, BIAS))]
    return _fed(tf, fetches, _values(1, 3, 4, 4, 3))


def composed_functions(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    fetches = [
        tf.exp(tf.tanh(tf.sqrt(tf.abs(x)))),
        tf.math.rsqrt(tf.exp(-tf.square(tf.sigmoid(x)))),
        tf.nn.selu(tf.math.log1p(tf.square(tf.atan(x)))),
    ]
    return _fed(tf, fetches, _values(9))


def hashed_numbers(tf):
    x = tf.placeholder(tf.int64, [None], name="x")
    buckets = tf.strings.to_hash_bucket_fast(tf.as_string(x), 1000)
    return [buckets + 1], [{"x:0": [0, -5, 123456789012, 7]}]


PROGRAMS = [
    fused_convolutions,
    fused_convolutions_and_norms,
    fused_depthwise_convolutions,
    fused_products,
    fused_norms,
    fused_volumes,
    composed_functions,
    hashed_numbers,
]
for _program in PROGRAMS:
    _program.optimized = True
    _program.not_in = ("1.15",)
