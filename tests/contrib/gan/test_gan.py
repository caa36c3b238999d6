"""`tf.contrib.gan`: models, the values of their losses, and training in turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

gan = tf.contrib.gan
_REAL: Any = np.random.RandomState(0).randn(6, 3).astype(np.float32)


def _generator(noise: Any) -> Any:
    noise = tf.concat(noise, 1) if isinstance(noise, list) else noise
    return tf.layers.dense(noise, 3, name="out")


def _discriminator(data: Any, _: Any) -> Any:
    return tf.layers.dense(data, 1, name="logits")


def _classifier(data: Any, _: Any) -> Any:
    return _discriminator(data, _), tf.layers.dense(data, 3, name="classes")


def _model() -> Any:
    return gan.gan_model(_generator, _discriminator, _REAL, tf.ones([6, 2]))


def _values(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def _log1pexp(x: Any) -> Any:
    return np.logaddexp(0.0, x)


def _mean(values: Any) -> float:
    return float(np.mean(values))


_VALUES: Any = {
    "wasserstein": lambda r, g: (-_mean(g), _mean(g) - _mean(r)),
    "modified": lambda r, g: (
        _mean(_log1pexp(-g)),
        _mean(_log1pexp(g)) + _mean(0.875 * _log1pexp(-r) + 0.125 * _log1pexp(r)),
    ),
    "least_squares": lambda r, g: (
        _mean((g - 1) ** 2) / 2,
        _mean((r - 1) ** 2) / 2 + _mean(g**2) / 2,
    ),
}


@pytest.mark.parametrize("kind", _VALUES)
def test_losses_are_those_of_the_papers(kind: str) -> None:
    with tf.Graph().as_default():
        model = _model()
        loss = gan.gan_loss(
            model,
            getattr(gan.losses, f"{kind}_generator_loss"),
            getattr(gan.losses, f"{kind}_discriminator_loss"),
        )
        found, real, generated = _values(
            [loss, model.discriminator_real_outputs, model.discriminator_gen_outputs]
        )
    np.testing.assert_allclose(found, _VALUES[kind](real, generated), rtol=1e-4)


def test_networks_have_variables_of_their_own() -> None:
    with tf.Graph().as_default():
        model = _model()
    names = [v.op.name for v in model.generator_variables]
    assert names == ["Generator/out/kernel", "Generator/out/bias"]
    assert len(model.discriminator_variables) == 2


def test_the_penalty_of_gradients_is_that_of_a_linear_discriminator() -> None:
    with tf.Graph().as_default():
        model = _model()
        penalty = gan.losses.wasserstein_gradient_penalty(model)
        kernel, found = _values([model.discriminator_variables[0], penalty])
    assert found == pytest.approx((np.linalg.norm(kernel) - 1) ** 2, rel=1e-4)


@pytest.mark.parametrize("joint", [True, False])
def test_training_takes_turns(joint: bool) -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        model = _model()
        optimizers = [tf.train.GradientDescentOptimizer(0.1) for _ in range(2)]
        ops = gan.gan_train_ops(model, gan.gan_loss(model), *optimizers)
        make = gan.get_joint_train_hooks if joint else gan.get_sequential_train_hooks
        hooks = make(gan.GANTrainSteps(1, 2))
        assert len(hooks(ops)) == (3 if joint else 2)
        steps = gan.gan_train(
            ops,
            None,
            hooks,
            hooks=[tf.train.StopAtStepHook(num_steps=3)],
            save_checkpoint_secs=None,
            save_summaries_steps=None,
        )
    assert steps == 3


def test_a_cycle_has_losses_both_ways() -> None:
    with tf.Graph().as_default():
        model = gan.cyclegan_model(
            _generator, _discriminator, tf.constant(_REAL), tf.constant(_REAL[::-1])
        )
        loss = gan.cyclegan_loss(model)
        back = model.reconstructed_x, model.reconstructed_y
        found, x, y = _values([loss, *back])
    cycle = np.abs(x - _REAL).mean() + np.abs(y - _REAL[::-1]).mean()
    assert found.loss_x2y.generator_loss >= 10 * cycle / 2


def test_classes_and_noise_are_predicted() -> None:
    labels = np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1, 2]]
    with tf.Graph().as_default():
        model = gan.acgan_model(_generator, _classifier, _REAL, tf.ones([6, 2]), labels)
        plain = gan.gan_loss(model)
        classes = gan.gan_loss(model, aux_cond_generator_weight=1.0)
        a, b = _values([plain.generator_loss, classes.generator_loss])
    assert b > a
    with tf.Graph().as_default():

        def predicts(data: Any, _: Any) -> Any:
            mean = tf.layers.dense(data, 2, name="mean")
            return _discriminator(data, _), [tf.distributions.Normal(mean, 1.0)]

        noise = [tf.ones([6, 2])], [tf.zeros([6, 2])]
        info = gan.infogan_model(_generator, predicts, _REAL, *noise)
        loss = gan.gan_loss(info, mutual_information_penalty_weight=1.0)
        assert np.all(np.isfinite(_values(loss)))


def test_a_pool_gives_older_values() -> None:
    with tf.Graph().as_default():
        value = tf.placeholder(tf.float32, [])
        pooled = gan.features.tensor_pool(value, pool_size=2, pooling_probability=1.0)
        assert gan.features.tensor_pool(value, pool_size=0) is value
        with tf.Session() as session:
            found = [float(session.run(pooled, {value: v})) for v in range(9)]
    assert found[:2] == [0.0, 1.0]
    assert all(old < new for new, old in enumerate(found[2:], 2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gradient_penalty_weight": -1.0}, "must be greater than 0"),
        ({"mutual_information_penalty_weight": 1.0}, "must be an `InfoGANModel`"),
        ({"aux_cond_generator_weight": 1.0}, "must be an `ACGANModel`"),
    ],
)
def test_what_does_not_fit_is_refused(options: Any, message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        gan.gan_loss(_model(), **options)


def test_generated_data_have_the_shape_of_real_ones() -> None:
    def sums(data: Any, _: Any) -> Any:
        return tf.reduce_sum(data, 1)

    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be the same"):
        gan.gan_model(_generator, sums, _REAL[:, :2], tf.ones([6, 2]))
