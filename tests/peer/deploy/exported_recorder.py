"""Records frozen models of TensorFlow 1.15, and what they give.

`PYTHON exported_recorder.py FILE` writes a pickle. Python 3.7.
"""

import pickle
import sys

import numpy as np
import tensorflow as tf

MODELS = []


def model(build):
    """Declares a model: a function that returns feeds and fetches."""
    MODELS.append(build)
    return build


def values(*shape):
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 0.7) * 0.8).reshape(shape).astype(np.float32)


@model
def lstm():
    x = tf.placeholder(tf.float32, [None, None, 3], name="x")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    cell = tf.nn.rnn_cell.LSTMCell(4)
    y, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
    feeds = {x: values(2, 5, 3), lengths: np.array([3, 5], np.int32)}
    return feeds, [tf.identity(y, name="y"), tf.identity(state.h, name="h")]


@model
def bidirectional():
    x = tf.placeholder(tf.float32, [None, 6, 3], name="x")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    both, _ = tf.nn.bidirectional_dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(4),
        tf.nn.rnn_cell.GRUCell(4),
        x,
        lengths,
        dtype=tf.float32,
    )
    feeds = {x: values(2, 6, 3), lengths: np.array([3, 6], np.int32)}
    return feeds, [tf.concat(both, 2, name="y")]


@model
def deep():
    x = tf.placeholder(tf.float32, [None, 5, 3], name="x")
    cells = [tf.nn.rnn_cell.BasicLSTMCell(4), tf.nn.rnn_cell.GRUCell(3)]
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    y, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    return {x: values(3, 5, 3)}, [tf.layers.dense(y[:, -1], 2, name="y")]


@model
def keras_lstm():
    x = tf.placeholder(tf.float32, [None, 5, 3], name="x")
    return {x: values(2, 5, 3)}, [tf.identity(tf.keras.layers.LSTM(4)(x), name="y")]


@model
def keras_images():
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    y = tf.keras.layers.Conv2D(4, 3, padding="same")(x)
    y = tf.keras.layers.BatchNormalization()(y, training=False)
    y = tf.keras.layers.LeakyReLU()(y)
    y = tf.keras.layers.Conv2DTranspose(3, 3, 2, padding="same")(y)
    y = tf.keras.layers.GlobalAveragePooling2D()(y)
    return {x: values(2, 8, 8, 3)}, [tf.identity(y, name="y")]


@model
def branches():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.cond(
        tf.reduce_mean(x) > 0,
        lambda: tf.matmul(x, tf.ones([3, 2])),
        lambda: x[:, :2] * 3.0,
    )
    mapped = tf.map_fn(lambda row: tf.nn.softmax(row) * 2.0, x)
    return {x: values(2, 3)}, [tf.identity(y, name="y"), tf.identity(mapped, name="z")]


@model
def boxes():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    scores = tf.placeholder(tf.float32, [None], name="scores")
    kept = tf.image.non_max_suppression(x, scores, 3, 0.5)
    rows = [[0, 0, 1, 1], [0, 0, 1, 1.1], [2, 2, 3, 3], [5, 5, 6, 6]]
    feeds = {x: np.array(rows, np.float32), scores: np.array([0.9, 0.8, 0.7, 0.95])}
    return feeds, [tf.gather(x, kept, name="y")]


@model
def attention():
    x = tf.placeholder(tf.float32, [None, None, 8], name="x")
    query, key, value = (tf.layers.dense(x, 8) for _ in range(3))
    scores = tf.matmul(query, key, transpose_b=True) * 0.35
    y = x + tf.matmul(tf.nn.softmax(scores), value)
    y = tf.contrib.layers.layer_norm(y, begin_norm_axis=-1)
    return {x: values(2, 5, 8)}, [tf.identity(y, name="y")]


def record(build):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.set_random_seed(1)
        feeds, fetches = build()
        sess.run(tf.global_variables_initializer())
        found = sess.run(fetches, feeds)
        frozen = tf.graph_util.convert_variables_to_constants(
            sess, graph.as_graph_def(), [tensor.op.name for tensor in fetches]
        )
    return {
        "graph": frozen.SerializeToString(),
        "feeds": {tensor.op.name: value for tensor, value in feeds.items()},
        "values": dict(zip([tensor.op.name for tensor in fetches], found)),
    }


with open(sys.argv[1], "wb") as file:
    pickle.dump({build.__name__: record(build) for build in MODELS}, file, protocol=4)
