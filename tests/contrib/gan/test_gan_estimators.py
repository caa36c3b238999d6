"""Estimators of networks against each other, beside `GANEstimator`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.gan.domain_estimator import stargan_prediction_input_fn_wrapper

gan: Any = tf.contrib.gan


def _generator(inputs: Any, *targets: Any, mode: str) -> Any:
    return tf.get_variable("g", initializer=0.5) * inputs


def _discriminator(data: Any, conditioning: Any, mode: str) -> Any:
    weight = tf.get_variable("d", initializer=1.0)
    return tf.reduce_mean(weight * data, axis=1, keepdims=True)


def _domains(images: Any, count: int, mode: str) -> Any:
    flat = tf.layers.flatten(images)
    return tf.reduce_mean(flat, axis=1), tf.layers.dense(flat, count, name="domains")


def _star_loss(model: Any) -> Any:
    loss = tf.reduce_mean(tf.square(model.input_data - model.generated_data))
    domain = tf.reduce_mean(model.discriminator_input_data_domain_predication)
    return gan.GANLoss(loss, loss + 0.1 * domain)


def _images() -> Any:
    images = tf.constant(np.linspace(0, 1, 4 * 4 * 4 * 3), tf.float32)
    return tf.reshape(images, [4, 4, 4, 3]), tf.one_hot([0, 1, 2, 0], 3)


@pytest.mark.slow
def test_one_generator_among_domains(tmp_path: Any) -> None:
    model = gan.estimator.StarGANEstimator(
        str(tmp_path),
        _generator,
        _domains,
        _star_loss,
        tf.train.GradientDescentOptimizer(0.5),
        lambda: tf.train.GradientDescentOptimizer(0.5),
        get_eval_metric_ops_fn=lambda m: {"size": tf.metrics.mean(m.generated_data)},
        add_summaries=[gan.estimator.SummaryType.IMAGES],
    )
    model.train(_images, steps=5)
    assert model.get_variable_value("Generator/g") > 0.6
    found = model.evaluate(_images, steps=1)
    losses = found["generator_loss"] + found["discriminator_loss"]
    assert found["loss"] == pytest.approx(losses, rel=1e-5)
    assert "size" in found
    first = next(model.predict(stargan_prediction_input_fn_wrapper(_images)))
    assert first.shape == (4, 4, 3)


@pytest.mark.slow
def test_a_model_with_the_interface_of_tpus(tmp_path: Any) -> None:
    def data(params: Any) -> Any:
        batch = params["batch_size"]
        inputs = tf.ones([batch, 2])
        return tf.data.Dataset.from_tensors((inputs, 3 * inputs)).repeat()

    for joint in (False, True):
        model = gan.estimator.TPUGANEstimator(
            _generator,
            _discriminator,
            gan.losses.wasserstein_generator_loss,
            gan.losses.wasserstein_discriminator_loss,
            tf.train.GradientDescentOptimizer(0.1),
            tf.train.GradientDescentOptimizer(0.1),
            get_eval_metric_ops_fn=lambda inputs, generated, real, on_real, on_gen: {
                "real": tf.metrics.mean(real)
            },
            joint_train=joint,
            config=tf.estimator.tpu.RunConfig(model_dir=str(tmp_path / str(joint))),
            use_tpu=False,
            train_batch_size=4,
            eval_batch_size=4,
            predict_batch_size=4,
        )
        model.train(data, steps=3)
        assert model.get_variable_value("Generator/g") > 0.5
        found = model.evaluate(data, steps=1)
        assert found["real"] == 3.0
        assert "generator_loss" in found
        inputs = lambda params: tf.data.Dataset.from_tensors(tf.ones([4, 2]))
        assert next(model.predict(inputs))["generated_data"].shape == (2,)


@pytest.mark.slow
def test_inputs_of_a_trained_generator_are_found(tmp_path: Any) -> None:
    trained = gan.estimator.GANEstimator(
        str(tmp_path / "trained"),
        _generator,
        _discriminator,
        gan.losses.wasserstein_generator_loss,
        gan.losses.wasserstein_discriminator_loss,
        tf.train.GradientDescentOptimizer(0.1),
        tf.train.GradientDescentOptimizer(0.1),
    )
    trained.train(lambda: (tf.ones([2, 3]), tf.ones([2, 3])), steps=1)
    model = gan.estimator.get_latent_gan_estimator(
        _generator,
        _discriminator,
        lambda model, features, labels, summaries: tf.reduce_sum(
            tf.square(model.generated_data - labels)
        ),
        tf.train.GradientDescentOptimizer,
        {
            "batch_size": 2,
            "z_shape": [3],
            "learning_rate": 0.5,
            "input_clip": 10.0,
            "add_summaries": True,
        },
        tf.estimator.RunConfig(str(tmp_path / "search")),
        str(tmp_path / "trained"),
    )
    model.train(lambda: (tf.zeros([2]), tf.fill([2, 3], 2.0)), steps=40)
    weight = trained.get_variable_value("Generator/g")
    assert model.get_variable_value("Generator/g") == weight
    found = model.get_variable_value("new_var_z_input")
    np.testing.assert_allclose(weight * found, np.full([2, 3], 2.0), rtol=1e-3)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda e: e.StarGANEstimator(), ValueError, "loss_fn must be callable"),
        (
            lambda e: e.StarGANEstimator(loss_fn=abs, get_hooks_fn=1),
            TypeError,
            "get_hooks_fn must be callable",
        ),
        (lambda e: e.TPUGANEstimator(), ValueError, "generator_loss_fn must"),
        (
            lambda e: e.TPUGANEstimator(
                generator_loss_fn=abs,
                discriminator_loss_fn=abs,
                gan_train_steps=gan.GANTrainSteps(1, 2),
            ),
            ValueError,
            "only supports 1:1",
        ),
    ],
)
def test_what_is_wrong_is_said(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(gan.estimator)
