"""Functions of `nn_ops`, `nn_impl` and `image_ops` as TensorFlow 2 has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.compat.op_modules import newer_nn_functions as nn
from tensorloom.image.newer_resizing import (
    ResizeMethodV2,
    resize_image_with_pad_v2,
    resize_images_v2,
)
from tensorloom.ops.nn.sampled_loss import compute_sampled_logits

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 10


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        (lambda x: nn.softmax_v2(x), lambda x: tf.nn.softmax(x)),
        (lambda x: nn.softmax_v2(x, axis=1), lambda x: tf.nn.softmax(x, 1)),
        (lambda x: nn.log_softmax_v2(x, 0), lambda x: tf.nn.log_softmax(x, 0)),
        (lambda x: nn.l2_normalize_v2(x, 1), lambda x: tf.nn.l2_normalize(x, 1)),
        (lambda x: nn.dropout_v2(x, 0.0), lambda x: x),
        (
            lambda x: nn.moments_v2(x, [0], keepdims=True)[1],
            lambda x: tf.nn.moments(x, [0], keep_dims=True)[1],
        ),
        (
            lambda x: nn.conv2d_transpose_v2(x[None], x[:, :, None], [1, 2, 3, 1], 1),
            lambda x: tf.nn.conv2d_transpose(x[None], x[:, :, None], [1, 2, 3, 1], 1),
        ),
    ],
)
def test_the_values_are_those_of_the_older_functions(newer: Any, older: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(X[:, :3, :3])
        found, expected = session.run([newer(x), older(x)])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("loss", ["nce_loss", "sampled_softmax_loss"])
def test_losses_over_samples_divide_their_partitions(loss: str) -> None:
    weights = np.random.RandomState(0).rand(6, 2).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        arguments = (
            [tf.constant(part) for part in np.split(weights, 2)],
            tf.zeros([6]),
            tf.constant([[0], [5]], tf.int64),
            tf.constant([[1.0, 2.0], [3.0, 4.0]]),
            2,
            6,
        )
        sampled = (
            tf.constant([1, 4], tf.int64),
            tf.ones([2, 1]),
            tf.ones([2]),
        )
        newer = getattr(nn, f"{loss}_v2")(*arguments, sampled_values=sampled)
        older = getattr(tf.nn, loss)(
            *arguments, sampled_values=sampled, partition_strategy="div"
        )
        found, expected = session.run([newer, older])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_logits_of_samples_without_the_expected_counts() -> None:
    sampled = (tf.constant([1], tf.int64), tf.fill([1, 1], 2.0), tf.fill([1], 4.0))
    options: dict[str, Any] = {
        "weights": tf.eye(3),
        "biases": tf.zeros([3]),
        "labels": tf.constant([[0]], tf.int64),
        "inputs": tf.constant([[1.0, 3.0, 5.0]]),
        "num_sampled": 1,
        "num_classes": 3,
        "sampled_values": sampled,
    }
    plain, _ = compute_sampled_logits(**options, subtract_log_q=False)
    less, labels = compute_sampled_logits(**options)
    with tf.Session() as session:
        a, b, c = session.run([plain, less, labels])
    np.testing.assert_allclose(a, [[1, 3]])
    np.testing.assert_allclose(b, [[1 - np.log(2), 3 - np.log(4)]], rtol=1e-6)
    np.testing.assert_allclose(c, [[1, 0]])


METHODS = [v for k, v in vars(ResizeMethodV2).items() if not k.startswith("_")]


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_images_keep_a_constant_colour(method: str, antialias: bool) -> None:
    images = np.full([1, 6, 4, 2], 3.0, np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        smaller = resize_images_v2(images, [3, 2], method, antialias=antialias)
        larger = resize_images_v2(images[0], [12, 8], method, antialias=antialias)
        found = session.run([smaller, larger])
    assert [value.shape for value in found] == [(1, 3, 2, 2), (12, 8, 2)]
    for value in found:
        np.testing.assert_allclose(value, 3.0, rtol=1e-5)


def test_pixels_have_their_middles_at_halves() -> None:
    row = np.array([[[0.0], [10.0]]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(resize_images_v2(row, [1, 4]))
    np.testing.assert_allclose(found.reshape(-1), [0.0, 2.5, 7.5, 10.0])


def test_images_with_zeros_around_them() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        image = np.ones([2, 4, 1], np.float32)
        found = session.run(resize_image_with_pad_v2(image, 4, 4))
    assert found[:, :, 0].tolist() == [[0.0] * 4, [1.0] * 4, [1.0] * 4, [0.0] * 4]


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match="Resize method is not implemented: best"):
        resize_images_v2(np.ones([2, 2, 1], np.float32), [1, 1], "best")


@pytest.mark.parametrize("kind", ["avg_pool", "max_pool"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_pools_go_by_the_rank_of_their_input(kind: str, dims: int) -> None:
    values = np.arange(4.0**dims, dtype=np.float32).reshape(1, *[4] * dims, 1)
    with tf.Graph().as_default(), tf.Session() as session:
        newer = getattr(tf.nn, f"{kind}_v2")(values, 2, 2, "VALID")
        older = getattr(tf.nn, f"{kind}{dims}d")(values, 2, 2, "VALID")
        found, expected = session.run([newer, older])
    assert found.shape == (1, *[2] * dims, 1)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("kind", ["avg_pool_v2", "max_pool_v2"])
def test_pools_of_other_ranks_are_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="must be of rank 3, 4 or 5 but was 6"):
        getattr(tf.nn, kind)(np.ones([1] * 6, np.float32), 1, 1, "SAME")
