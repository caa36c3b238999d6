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


ALL: Final[dict[str, Build]] = {"convolutional": convolutional, "words": words}
