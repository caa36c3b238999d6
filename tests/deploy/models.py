"""Models that are made small and exported in the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

import tensorloom as tf

Build = Callable[[], tuple[dict[str, Any], dict[str, Any]]]


def values(*shape: int) -> Any:
    """Numbers that look like weights; the same each time."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 0.7) * 0.5).reshape(shape).astype(np.float32)


def saved(folder: Path, build: Build, train: Any = None) -> str:
    """The directory of a SavedModel of what is built."""
    path = str(folder / "saved")
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        inputs, outputs = build()
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        tf.saved_model.simple_save(
            sess, path, inputs, outputs, legacy_init_op=tf.tables_initializer()
        )
    return path


def convolutional() -> tuple[dict[str, Any], dict[str, Any]]:
    """Convolutions with batch normalization, pooling and a dense layer, in NHWC."""
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    y = tf.layers.conv2d(x, 8, 3, padding="same", use_bias=False)
    y = tf.nn.relu(_normalized(y))
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.separable_conv2d(y, 8, 3, padding="same", use_bias=False)
    y = tf.nn.relu6(_normalized(y))
    y = tf.layers.average_pooling2d(y, 2, 2, padding="same")
    y = tf.layers.flatten(y)
    logits = tf.layers.dense(y, 5)
    return {"x": x}, {"scores": tf.nn.softmax(logits), "logits": logits}


def _normalized(y: Any) -> Any:
    return tf.layers.batch_normalization(
        y,
        moving_mean_initializer=tf.constant_initializer(-0.1),
        moving_variance_initializer=tf.constant_initializer(0.5),
        gamma_initializer=tf.constant_initializer(1.2),
        beta_initializer=tf.constant_initializer(0.3),
    )


def words() -> tuple[dict[str, Any], dict[str, Any]]:
    """Embeddings of words that a table finds."""
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant(["the", "a", "b"]), tf.constant([1, 2, 3], tf.int64)
        ),
        0,
    )
    x = tf.placeholder(tf.string, [None, 4], name="words")
    embeddings = tf.get_variable("embeddings", [4, 6])
    found = tf.nn.embedding_lookup(embeddings, table.lookup(x))
    return {"words": x}, {"vector": tf.reduce_mean(found, 1)}


def recurrent() -> tuple[dict[str, Any], dict[str, Any]]:
    """An LSTM over sequences of several lengths, in a `while_loop`."""
    x = tf.placeholder(tf.float32, [None, None, 3], name="x")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    cell = tf.nn.rnn_cell.LSTMCell(4)
    y, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
    return {"x": x, "lengths": lengths}, {"last": state.h, "all": y}


def attention() -> tuple[dict[str, Any], dict[str, Any]]:
    """A block of a transformer over embedded words."""
    size, heads, length = 8, 2, 6
    ids = tf.placeholder(tf.int32, [None, length], name="ids")
    mask = tf.placeholder(tf.int32, [None, length], name="mask")
    x = tf.nn.embedding_lookup(tf.get_variable("words", [20, size]), ids)
    x += tf.get_variable("places", [length, size])
    x = _layer_norm(x, "first")
    batch = tf.shape(ids)[0]

    def split(name: str) -> Any:
        flat = tf.layers.dense(tf.reshape(x, [-1, size]), size, name=name)
        parts = tf.reshape(flat, [batch, length, heads, size // heads])
        return tf.transpose(parts, [0, 2, 1, 3])

    scores = tf.matmul(split("query"), split("key"), transpose_b=True) / 2.0
    allowed = tf.cast(tf.reshape(mask, [batch, 1, 1, length]), tf.float32)
    scores += (1.0 - allowed) * -10000.0
    context = tf.matmul(tf.nn.softmax(scores), split("value"))
    context = tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [-1, length, size])
    x = _layer_norm(x + tf.layers.dense(context, size), "second")
    inner = tf.layers.dense(x, 16)
    inner *= 0.5 * (1.0 + tf.erf(inner / np.sqrt(2.0).astype(np.float32)))
    x = _layer_norm(x + tf.layers.dense(inner, size), "third")
    pooled = tf.layers.dense(tf.squeeze(x[:, 0:1, :], 1), size, activation=tf.tanh)
    return {"ids": ids, "mask": mask}, {"pooled": pooled, "sequence": x}


def _layer_norm(x: Any, name: str) -> Any:
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    scale = tf.get_variable(f"{name}/scale", initializer=values(8) + 1.0)
    return tf.nn.batch_normalization(x, mean, variance, None, scale, 1e-6)


def detection() -> tuple[dict[str, Any], dict[str, Any]]:
    """The best boxes that do not overlap, and what else is said of them."""
    boxes = tf.placeholder(tf.float32, [None, 4], name="boxes")
    scores = tf.placeholder(tf.float32, [None, 3], name="scores")
    best = tf.reduce_max(scores, 1)
    _, order = tf.nn.top_k(best, tf.minimum(10, tf.shape(best)[0]))
    boxes_found, best_found = tf.gather(boxes, order), tf.gather(best, order)
    corners = tf.concat(
        [tf.minimum(boxes_found[:, :2], boxes_found[:, 2:]), boxes_found[:, 2:] + 3.0],
        1,
    )
    kept = tf.image.non_max_suppression(
        corners, best_found, 5, iou_threshold=0.5, score_threshold=-10.0
    )
    classes = tf.gather(tf.argmax(tf.gather(scores, order), 1), kept)
    return (
        {"boxes": boxes, "scores": scores},
        {
            "boxes_kept": tf.gather(corners, kept),
            "classes": tf.cast(classes, tf.int32) + 1,
            "count": tf.shape(kept)[0],
        },
    )


def branching() -> tuple[dict[str, Any], dict[str, Any]]:
    """A branch, a loop in the classic form, and what slices and pads."""
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x - 1.0)
    _, y = tf.while_loop(
        lambda n, _: n < 3,
        lambda n, v: (n + 1, tf.tanh(v) + tf.cast(n, tf.float32)),
        [0, y],
    )
    y = tf.pad(y[:, 1:-1], [[0, 0], [1, 2]], constant_values=0.5)
    parts = tf.stack(tf.unstack(tf.reverse(y, [1]), axis=1)[::2], axis=0)
    one_hot = tf.one_hot(tf.argmax(x, 1), 4, on_value=2.0, off_value=-1.0)
    chosen = tf.where(x > 0.0, x, tf.zeros_like(x) - 0.5)
    return (
        {"x": x},
        {
            "parts": parts,
            "one_hot": tf.concat([one_hot, chosen], 1)[..., tf.newaxis],
            "rest": tf.floormod(tf.cast(x * 10.0, tf.int32), 3),
            "whole": tf.floordiv(tf.cast(x * 10.0, tf.int32), 3),
        },
    )


ALL: Final[dict[str, Build]] = {
    "convolutional": convolutional,
    "words": words,
    "recurrent": recurrent,
    "attention": attention,
    "detection": detection,
    "branching": branching,
}
