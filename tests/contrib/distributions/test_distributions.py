"""`tf.contrib.distributions`: what follows from what, shapes, and misuse.

Numbers are compared with TensorFlow 1.15's in tests/peer/programs/contrib.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

ds = tf.contrib.distributions
bs = ds.bijectors


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _run(fetches: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches)


_LOWER = np.array([[1.0, 0.0], [0.5, 2.0]], np.float32)
_CONTINUOUS: dict[str, Callable[[], Any]] = {
    "cauchy": lambda: ds.Cauchy(0.5, 2.0),
    "logistic": lambda: ds.Logistic(0.5, 2.0),
    "inverse gamma": lambda: ds.InverseGamma(3.0, 2.0),
    "kumaraswamy": lambda: ds.Kumaraswamy(2.0, 3.0),
    "sinh": lambda: ds.SinhArcsinh(0.1, 1.0, 0.3, 1.2),
    "relaxed": lambda: ds.RelaxedBernoulli(0.7, probs=0.3),
    "log normal": lambda: ds.TransformedDistribution(ds.Normal(0.0, 1.0), bs.Exp()),
}


@pytest.mark.parametrize("name", _CONTINUOUS)
def test_densities_are_derivatives_of_distribution_functions(name: str) -> None:
    distribution = _CONTINUOUS[name]()
    x = tf.constant([0.2, 0.4, 0.7])
    slope = tf.gradients(distribution.cdf(x), x)[0]
    density, found = _run([distribution.prob(x), slope])
    np.testing.assert_allclose(found, density, rtol=1e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ds.Poisson(3.0),
        lambda: ds.Geometric(probs=0.4),
        lambda: ds.NegativeBinomial(3.0, probs=0.4),
        lambda: ds.QuantizedDistribution(ds.Normal(3.0, 2.0), low=0.0, high=50.0),
    ],
)
def test_probabilities_of_counts_sum_to_one(make: Callable[[], Any]) -> None:
    counts = np.arange(80, dtype=np.float32)
    assert _run(tf.reduce_sum(make().prob(counts))) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("make", "covariance"),
    [
        (
            lambda: ds.MultivariateNormalDiag([1.0, 2.0], [1.0, 2.0]),
            np.diag([1.0, 4.0]),
        ),
        (lambda: ds.MultivariateNormalTriL([1.0, 2.0], _LOWER), _LOWER @ _LOWER.T),
        (
            lambda: ds.MultivariateNormalFullCovariance([1.0, 2.0], _LOWER @ _LOWER.T),
            _LOWER @ _LOWER.T,
        ),
        (lambda: ds.VectorLaplaceDiag([1.0, 2.0], [1.0, 2.0]), np.diag([2.0, 8.0])),
    ],
)
def test_draws_of_vectors_have_the_covariance(
    make: Callable[[], Any], covariance: np.ndarray
) -> None:
    distribution = make()
    drawn, known = _run(
        [distribution.sample(40_000, seed=1), distribution.covariance()]
    )
    np.testing.assert_allclose(known, covariance, rtol=1e-5)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.3)
    np.testing.assert_allclose(drawn.mean(0), [1.0, 2.0], atol=0.05)


def test_a_bijector_and_its_inverse_are_of_opposite_size() -> None:
    chain = bs.Chain([bs.Softplus(), bs.Affine(shift=[1.0, -1.0], scale_tril=_LOWER)])
    x = tf.constant([[0.3, -0.2], [1.0, 2.0]])
    y = tf.identity(chain.forward(x))  # not a value that is known already
    sizes = [
        chain.forward_log_det_jacobian(x, event_ndims=1),
        chain.inverse_log_det_jacobian(y, event_ndims=1),
    ]
    back, there, here = _run([chain.inverse(y), *sizes])
    np.testing.assert_allclose(back, _run(x), atol=1e-5)
    np.testing.assert_allclose(there, -here, rtol=1e-4)


def test_an_autoregressive_flow_goes_there_and_back() -> None:
    made = bs.masked_autoregressive_default_template([8])
    flow = bs.MaskedAutoregressiveFlow(made)
    x = tf.constant([[0.3, -0.2, 0.5]])
    y = tf.identity(flow.forward(x))
    back = flow.inverse(y)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*sess.run([back, x]), atol=1e-5)
        jacobian = [
            tf.gradients(flow.inverse(x)[0, place], x)[0][0] for place in range(3)
        ]
        size = flow.inverse_log_det_jacobian(x, event_ndims=1)
        rows, size = sess.run([jacobian, size])
    assert np.array_equal(
        np.triu(rows, 1), np.zeros([3, 3])
    )  # none sees those after it
    np.testing.assert_allclose(np.log(np.abs(np.linalg.det(rows))), size[0], atol=1e-5)


def test_conditions_reach_the_rules() -> None:
    class Shifted(ds.ConditionalDistribution):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(tf.float32, ds.FULLY_REPARAMETERIZED, False, True)

        def _log_prob(self, x: Any, shift: Any) -> Any:
            return ds.Normal(shift, 1.0).log_prob(x)

    found = [Shifted().log_prob(2.0, shift=2.0), ds.Normal(0.0, 1.0).log_prob(0.0)]
    assert len(set(np.float32(_run(found)))) == 1

    class Scaled(bs.ConditionalBijector):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(forward_min_event_ndims=0, name="scaled")

        def _forward(self, x: Any, scale: Any) -> Any:
            return x * scale

        def _inverse(self, y: Any, scale: Any) -> Any:
            return y / scale

        def _inverse_log_det_jacobian(self, y: Any, scale: Any) -> Any:
            return -tf.log(scale)

    made = ds.ConditionalTransformedDistribution(ds.Normal(0.0, 1.0), Scaled())
    given = {"bijector_kwargs": {"scale": tf.constant(3.0)}}
    expected = ds.Normal(0.0, 3.0).log_prob(1.5)
    np.testing.assert_allclose(*_run([made.log_prob(1.5, **given), expected]))
    assert made.sample(4, **given).shape.as_list() == [4]


def test_shapes_that_are_known_late_are_followed() -> None:
    loc = tf.placeholder(tf.float32, [None, None])
    normal = ds.MultivariateNormalDiag(loc, tf.ones_like(loc))
    shapes = [normal.batch_shape_tensor(), normal.event_shape_tensor()]
    with tf.Session() as sess:
        feed = {loc: np.zeros([4, 3])}
        assert [list(shape) for shape in sess.run(shapes, feed)] == [[4], [3]]
        assert sess.run(normal.sample(2), feed).shape == (2, 4, 3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ds.Poisson(), ValueError, "exactly one of `rate` and `log_rate`"),
        (lambda: ds.Poisson([1]), TypeError, "is a not a float-type"),
        (lambda: ds.MultivariateNormalDiag(), ValueError, "Cannot infer `event_shape`"),
        (
            lambda: ds.MultivariateNormalDiag([1.0, 2.0], [1.0, 2.0, 3.0]),
            ValueError,
            "could not be broadcast",
        ),
        (
            lambda: ds.Mixture(ds.Categorical(probs=[0.5, 0.5]), [ds.Normal(0.0, 1.0)]),
            ValueError,
            "num_classes != len",
        ),
        (
            lambda: ds.Independent(ds.Normal(0.0, 1.0), 1),
            ValueError,
            "cannot exceed distribution.batch_ndims",
        ),
        (
            lambda: ds.BatchReshape(ds.Normal([0.0, 1.0], 1.0), [3]),
            ValueError,
            "shape",
        ),
        (lambda: bs.Permute([0, 0]), ValueError, "exactly one of each"),
        (lambda: bs.Reshape([-1, -1]), ValueError, "at most one `-1`"),
        (lambda: bs.PowerTransform(-1.0), ValueError, "non-negative"),
        (lambda: bs.Invert(bs.AbsoluteValue()), NotImplementedError, "non-injective"),
        (
            lambda: ds.percentile([1.0], 10.0, interpolation="linear"),
            ValueError,
            "interpolation",
        ),
    ],
)
def test_misuse_is_refused(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_arguments_are_checked_in_steps() -> None:
    value = tf.placeholder(tf.float32, [])
    checked = [
        ds.Poisson(2.0, validate_args=True).prob(value),
        bs.Softsign(validate_args=True).inverse(value),
        ds.Cauchy(0.0, value, validate_args=True).prob(1.0),
    ]
    with tf.Session() as sess:
        for tensor in checked:
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(tensor, {value: -2.5})


def _wishart(factors: bool = False) -> Any:
    return ds.WishartCholesky(5.0, _LOWER, cholesky_input_output_matrices=factors)


def test_wishart_distributions() -> None:
    scale = _LOWER @ _LOWER.T
    full = ds.WishartFull(5.0, scale)
    draws, mean, variance, density, other, log_det = _run(
        [
            full.sample(4000, seed=1),
            full.mean(),
            full.variance(),
            full.log_prob(2.0 * scale),
            _wishart(factors=True).log_prob(np.sqrt(2.0).astype(np.float32) * _LOWER),
            full.mean_log_det(),
        ]
    )
    np.testing.assert_allclose(mean, 5.0 * scale, rtol=1e-5)
    np.testing.assert_allclose(draws.mean(0), mean, rtol=0.1)
    np.testing.assert_allclose(draws.var(0), variance, rtol=0.2)
    np.testing.assert_allclose(np.log(np.linalg.det(draws)).mean(), log_det, atol=0.1)
    np.testing.assert_allclose(density, other, rtol=1e-4)


def test_compounds_are_mixtures_of_their_points() -> None:
    compound = ds.PoissonLogNormalQuadratureCompound(0.2, 0.5, quadrature_size=4)
    rates = compound.distribution.rate
    each = ds.Poisson(rates).prob(3.0)
    found, probs, mean, means = _run([compound.prob(3.0), each, compound.mean(), rates])
    np.testing.assert_allclose(found, probs.mean(), rtol=1e-5)
    np.testing.assert_allclose(mean, means.mean(), rtol=1e-5)
    mixture = ds.VectorDiffeomixture(
        mix_loc=[[0.0]],
        temperature=[1.0],
        distribution=ds.Normal(0.0, 1.0),
        loc=[None, np.float32([2.0, 4.0])],
        scale=[
            tf.linalg.LinearOperatorScaledIdentity(2, np.float32(0.5)),
            tf.linalg.LinearOperatorDiag(np.float32([1.0, 2.0])),
        ],
        quadrature_fn=ds.quadrature_scheme_softmaxnormal_gauss_hermite,
    )
    draws, mean, covariance = _run(
        [mixture.sample(8000, seed=2), mixture.mean(), mixture.covariance()]
    )
    np.testing.assert_allclose(draws[:, 0].mean(0), mean[0], atol=0.1)
    np.testing.assert_allclose(np.cov(draws[:, 0].T), covariance[0], atol=0.15)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: ds.WishartFull(1.0, _LOWER), ValueError, "cannot be less than"),
        (lambda: _wishart(factors=True).stddev(), ValueError, "does not make sense"),
        (
            lambda: ds.VectorDiffeomixture([[0.0]], [1.0], ds.Normal(0.0, 1.0)),
            ValueError,
            "for each component",
        ),
        (
            lambda: ds.quadrature_scheme_softmaxnormal_quantiles([0.0], [1.0, 1.0], 3),
            NotImplementedError,
            "bimixtures",
        ),
        (
            lambda: ds.estimator_head_distribution_regression(3),
            TypeError,
            "callable",
        ),
    ],
)
def test_misuse_of_compounds(
    call: Callable[[], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        call()
