"""`tf.contrib.layers`: variables, collections, argument scopes, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

layers = tf.contrib.layers
_IMAGES = np.random.RandomState(0).rand(2, 6, 6, 3).astype(np.float32)
_ROWS = np.random.RandomState(1).rand(4, 6).astype(np.float32)


def _names(key: str) -> list[str]:
    return [value.name for value in tf.get_collection(key)]


def test_variables_are_called_weights_and_biases() -> None:
    with tf.Graph().as_default():
        outputs = layers.fully_connected(
            _ROWS,
            5,
            weights_regularizer=layers.l2_regularizer(0.1),
            variables_collections={"weights": ["mine"]},
            outputs_collections="ends",
            scope="a/b",
        )
        assert _names(tf.GraphKeys.MODEL_VARIABLES) == ["a/b/weights:0", "a/b/biases:0"]
        assert _names("mine") == ["a/b/weights:0"]
        assert tf.get_collection("ends") == [outputs]
        assert outputs.aliases == ["a/b"]
        assert _names(tf.GraphKeys.REGULARIZATION_LOSSES) == [
            "a/b/kernel/Regularizer/l2_regularizer:0"
        ]


def test_an_argument_scope_reaches_all_that_it_names() -> None:
    with (
        tf.Graph().as_default(),
        tf.contrib.framework.arg_scope(
            [layers.conv2d, layers.fully_connected],
            normalizer_fn=layers.batch_norm,
            activation_fn=None,
        ),
        tf.contrib.framework.arg_scope([layers.batch_norm], is_training=False),
    ):
        images = layers.conv2d(_IMAGES, 4, 3, scope="c")
        layers.fully_connected(layers.flatten(images), 2, scope="f", normalizer_fn=None)
        assert [v.op.name for v in tf.global_variables()] == [
            "c/weights",
            "c/BatchNorm/beta",
            "c/BatchNorm/moving_mean",
            "c/BatchNorm/moving_variance",
            "f/weights",
            "f/biases",
        ]
        assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fused": False},
        {"zero_debias_moving_mean": True},
        {"updates_collections": None},
        {"updates_collections": None, "fused": False},
        {"batch_weights": [1.0, 1.0]},
        {"is_training": "tensor"},
        {"is_training": "tensor", "updates_collections": None},
    ],
    ids=str,
)
def test_batch_norm_normalizes_and_updates(options: dict[str, Any]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        if options.get("is_training") == "tensor":
            options = {**options, "is_training": tf.constant(True)}
        outputs = layers.batch_norm(_IMAGES, decay=0.5, epsilon=0.0, **options)
        averages = tf.get_collection(tf.GraphKeys.MODEL_VARIABLES, "BatchNorm/moving")
        session.run(tf.global_variables_initializer())
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        values, *_ = session.run([outputs, *updates])
        np.testing.assert_allclose(values.mean((0, 1, 2)), 0, atol=1e-5)
        np.testing.assert_allclose(values.std((0, 1, 2)), 1, atol=1e-4)
        mean = session.run(averages)[0]
        expected = _IMAGES.mean((0, 1, 2))
        half = 1.0 if "zero_debias_moving_mean" in options else 0.5
        np.testing.assert_allclose(mean, half * expected, rtol=1e-4)


def test_layer_norm_of_each_example() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = layers.layer_norm(_IMAGES)
        session.run(tf.global_variables_initializer())
        values = session.run(outputs)
    np.testing.assert_allclose(values.mean((1, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(values.std((1, 2, 3)), 1, atol=1e-3)


def test_stacks_name_their_layers() -> None:
    with tf.Graph().as_default():
        outputs = layers.stack(_IMAGES, layers.conv2d, [[3, 3], [4, 1]], stride=2)
        layers.repeat(_ROWS, 2, layers.fully_connected, 3, scope="r")
        assert outputs.shape.as_list() == [2, 2, 2, 4]
        assert [v.op.name for v in tf.global_variables()][::2] == [
            "Stack/convolution2d_1/weights",
            "Stack/convolution2d_2/weights",
            "r/r_1/weights",
            "r/r_2/weights",
        ]


@pytest.mark.parametrize("optimizer", ["SGD", tf.train.AdamOptimizer, "function"])
def test_optimize_loss_trains(optimizer: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        tf.train.get_or_create_global_step()
        outputs = layers.fully_connected(_ROWS, 1, activation_fn=None)
        loss = tf.reduce_mean(tf.square(outputs - 1.0))
        step = layers.optimize_loss(
            loss,
            None,
            0.1 if optimizer != "function" else None,
            optimizer
            if optimizer != "function"
            else lambda: tf.train.MomentumOptimizer(0.05, 0.9),
            clip_gradients=1.0,
            summaries=["loss", "gradients", "gradient_norm"],
        )
        session.run(tf.global_variables_initializer())
        losses = [session.run(step) for _ in range(30)]
        assert losses[-1] < losses[0] / 4
        assert session.run(tf.train.get_global_step()) == 30
        assert "OptimizeLoss/loss:0" in _names(tf.GraphKeys.SUMMARIES)


def test_optimize_loss_limits_norms_adaptively() -> None:
    from tensorloom.contrib.layers.training_step import adaptive_clipping_fn

    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.get_variable("w", initializer=[3.0, 4.0])
        clip = adaptive_clipping_fn(static_max_norm=1.0)
        ((gradient, _),) = clip([(weights * 1.0, weights)])
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(np.linalg.norm(session.run(gradient)), 1.0, 1e-5)


def _optimize(**options: Any) -> Any:
    loss = tf.reduce_sum(tf.get_variable("w", [2]))
    arguments = {"global_step": None, "learning_rate": 0.1, "optimizer": "SGD"}
    return layers.optimize_loss(loss, **{**arguments, **options})


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "outputs": (
        lambda: layers.fully_connected(_ROWS, "5"),
        ValueError,
        "num_outputs type should be one of",
    ),
    "rank": (
        lambda: layers.conv2d(_ROWS, 3, 3),
        ValueError,
        "Convolution expects input with rank 4, got 2",
    ),
    "format": (
        lambda: layers.max_pool2d(_IMAGES, 2, data_format="X"),
        ValueError,
        "NCHW or NHWC",
    ),
    "renorm": (
        lambda: layers.batch_norm(_IMAGES, renorm=True, updates_collections=None),
        ValueError,
        "renorm is not supported",
    ),
    "groups": (
        lambda: layers.group_norm(_IMAGES, groups=2),
        ValueError,
        "3 channels is not commensurate with 2 groups",
    ),
    "negative": (
        lambda: layers.l2_regularizer(-1.0),
        ValueError,
        "scale less than 0",
    ),
    "integer": (
        lambda: layers.l1_regularizer(1),
        ValueError,
        "scale cannot be an integer: 1",
    ),
    "mode": (
        lambda: layers.variance_scaling_initializer(mode="FAN"),
        TypeError,
        "Unknown mode FAN",
    ),
    "optimizer": (
        lambda: _optimize(optimizer="X"),
        ValueError,
        "Optimizer name should be one of",
    ),
    "rate": (
        lambda: _optimize(learning_rate=1),
        ValueError,
        "Learning rate should be 0d Tensor or float",
    ),
    "clip": (
        lambda: _optimize(clip_gradients=1),
        ValueError,
        "Unknown type",
    ),
    "sizes": (
        lambda: layers.embed_sequence([[1]]),
        ValueError,
        "Must specify vocab size",
    ),
    "maxout": (
        lambda: layers.maxout(_ROWS, 4),
        ValueError,
        "is not a multiple",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    call, error, message = REFUSED[case]
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("layers.python.layers.layers", "conv2d"),
        ("layers.python.layers", "xavier_initializer"),
        ("layers.python.layers.utils", "collect_named_outputs"),
        ("layers.python.layers.regularizers", "l2_regularizer"),
        ("framework.python.ops.variables", "model_variable"),
        ("framework.python.ops", "arg_scope"),
    ],
)
def test_paths(path: str, name: str) -> None:
    import importlib

    module = importlib.import_module(f"tensorloom.contrib.{path}")
    assert callable(getattr(module, name))
