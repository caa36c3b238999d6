"""`tf.contrib.gan`: normalizations, images of summaries, and the Estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

gan = tf.contrib.gan
_RANDOM = np.random.RandomState(0)


def _run(fetches: Any, times: int = 1) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetches) for _ in range(times)][-1]


def test_weights_have_a_norm_of_one() -> None:
    weights = _RANDOM.randn(2, 3, 4).astype(np.float32)
    with tf.Graph().as_default():
        getter = gan.features.spectral_normalization_custom_getter()
        with tf.variable_scope("d", custom_getter=getter):
            kernel = tf.get_variable("kernel", initializer=weights)
            bias = tf.get_variable("bias", [4])
        assert kernel.shape == weights.shape
        assert kernel.op.name.startswith("d/kernel/spectral_normalize")
        assert bias in tf.trainable_variables()
        found = _run(kernel, 60)
    largest = np.linalg.svd(weights.reshape(6, 4), compute_uv=False)[0]
    np.testing.assert_allclose(found, weights / largest, rtol=1e-4)


def test_the_norm_is_a_regularizer() -> None:
    weights = _RANDOM.randn(5, 4)
    with tf.Graph().as_default():
        loss = gan.features.spectral_norm_regularizer(0.5, 40)(tf.constant(weights))
        assert _run(loss) == pytest.approx(np.linalg.norm(weights, 2) / 2, rel=1e-3)
    assert gan.features.spectral_norm_regularizer(0.0)(weights) is None
    for scale in (1, -1.0):
        with pytest.raises(ValueError, match="scale"):
            gan.features.spectral_norm_regularizer(scale)


@pytest.mark.parametrize(("axis", "batch_axis"), [(-1, 0), (1, 0), (0, 2)])
def test_examples_are_normalized_with_the_reference(axis: int, batch_axis: int) -> None:
    reference, inputs = _RANDOM.randn(2, 4, 5, 6).astype(np.float32)
    with tf.Graph().as_default():
        vbn = gan.features.VBN(
            tf.constant(reference), axis, epsilon=0.0, batch_axis=batch_axis
        )
        outputs = vbn.reference_batch_normalization(), vbn(tf.constant(inputs))
        itself, found = _run(outputs)
    axes = tuple(i for i in range(3) if i != axis % 3)
    center, spread = (
        reference.mean(axes, keepdims=True),
        reference.std(axes, keepdims=True),
    )
    np.testing.assert_allclose(itself, (reference - center) / spread, atol=1e-5)
    one = np.take(inputs, [1], batch_axis)
    joined = np.concatenate([reference, one], batch_axis)
    center, spread = joined.mean(axes, keepdims=True), joined.std(axes, keepdims=True)
    got = np.take(found, [1], batch_axis)
    np.testing.assert_allclose(got, (one - center) / spread, atol=1e-4)


def test_references_that_do_not_fit_are_refused() -> None:
    reference = tf.zeros([2, 3])
    for bad in ({"axis": 2}, {"axis": 0}, {"batch_axis": -3}):
        with pytest.raises(ValueError, match="axis"):
            gan.features.VBN(reference, **bad)
    with pytest.raises(ValueError, match="incompatible"):
        gan.features.VBN(reference)(tf.zeros([5, 4]))


def test_images_are_tiled() -> None:
    images = np.arange(6 * 2 * 3, dtype=np.float32).reshape(6, 2, 3, 1)
    tensor = tf.constant(images)
    with tf.Session() as session:
        grid = session.run(
            gan.eval.image_grid(tf.reshape(tensor, [6, 6]), (2, 3), (2, 3), 1)
        )
        rows = session.run(gan.eval.image_reshaper(tensor[:5], num_cols=3))
    np.testing.assert_array_equal(grid[0, 2:, 3:6], images[4])
    np.testing.assert_array_equal(rows[0, :2], grid[0, :2])
    assert not rows[0, 2:, 6:].any()
    with pytest.raises(ValueError, match="Grid shape"):
        gan.eval.image_grid(tensor, (2, 2), (2, 3), 1)
    with pytest.raises(ValueError, match="incompatible with input"):
        gan.eval.image_grid(tensor, (2, 3), (3, 3), 1)


def _generator(noise: Any, mode: str) -> Any:
    assert mode in ("train", "eval", "infer")
    return tf.reshape(tf.layers.dense(noise, 16), [-1, 4, 4, 1])


def _discriminator(data: Any, _: Any) -> Any:
    return tf.layers.dense(tf.reshape(data, [-1, 16]), 1)


def _data() -> Any:
    noise = tf.random_normal([16, 2], seed=1)
    return noise, tf.random_normal([16, 4, 4, 1], mean=3.0, stddev=0.1, seed=2)


def _estimator(folder: str, **options: Any) -> Any:
    return gan.estimator.GANEstimator(
        folder,
        _generator,
        _discriminator,
        gan.losses.wasserstein_generator_loss,
        gan.losses.wasserstein_discriminator_loss,
        tf.train.AdamOptimizer(0.1),
        lambda: tf.train.AdamOptimizer(0.1),
        **options,
    )


def test_an_estimator_trains_both_networks(tmp_path: Any) -> None:
    kinds = gan.estimator.SummaryType
    estimator = _estimator(
        str(tmp_path),
        add_summaries=[kinds.IMAGES],
        get_eval_metric_ops_fn=lambda model: {
            "level": tf.metrics.mean(model.generated_data)
        },
    )
    estimator.train(_data, steps=20)
    found = estimator.evaluate(_data, steps=1)
    assert found["global_step"] == 20
    losses = found["generator_loss"] + found["discriminator_loss"]
    assert found["loss"] == pytest.approx(losses, rel=1e-4)
    assert found["level"] > 0.5
    noise = np.zeros((3, 2), np.float32)
    images = list(estimator.predict(lambda: tf.data.Dataset.from_tensors(noise)))
    assert np.shape(images) == (3, 4, 4, 1)


def test_estimators_check_their_functions() -> None:
    for options, error in (
        ({}, ValueError),
        ({"generator_loss_fn": len}, ValueError),
        (
            {
                "generator_loss_fn": len,
                "discriminator_loss_fn": len,
                "get_hooks_fn": 1,
            },
            TypeError,
        ),
    ):
        with pytest.raises(error, match="must be callable"):
            gan.estimator.GANEstimator(**options)
