"""Distribution functions and quantiles against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tensorloom.python.ops.distributions import special_math

import tensorloom as tf

special = pytest.importorskip("scipy.special")


def _values(function: Any, x: Any) -> tuple[Any, Any]:
    """What a function gives, and its gradient."""
    tensor = tf.constant(x)
    made = function(tensor)
    with tf.Session() as session:
        values, gradients = session.run([made, tf.gradients(made, tensor)[0]])
    return values, gradients


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-14), ("float32", 1e-6)])
def test_quantiles(dtype: str, rtol: float) -> None:
    tails = np.logspace(-30, -1, 40)
    p = np.concatenate([tails, np.linspace(0.05, 0.95, 40)]).astype(dtype)
    values, gradients = _values(special_math.ndtri, p)
    np.testing.assert_allclose(values, special.ndtri(p), rtol=rtol, atol=rtol)
    assert np.isfinite(gradients).all()


def test_ends_of_quantiles() -> None:
    values, gradients = _values(special_math.ndtri, np.array([0.0, 1.0, -1.0, 2.0]))
    np.testing.assert_array_equal(values, [-np.inf, np.inf, -np.inf, np.inf])
    assert np.isfinite(gradients).all()


@pytest.mark.parametrize("order", [3, 10])
def test_logarithm_far_out(order: int) -> None:
    x = np.array([-60.0, -25.0, -3.0, 0.0, 2.0])
    values, gradients = _values(lambda t: special_math.log_ndtr(t, order), x)
    np.testing.assert_allclose(values, special.log_ndtr(x), rtol=1e-7)
    assert np.isfinite(gradients).all()


def test_inverse_of_erf() -> None:
    x = np.linspace(-0.99, 0.99, 9)
    values, _ = _values(special_math.erfinv, x)
    np.testing.assert_allclose(values, special.erfinv(x), rtol=1e-13, atol=1e-15)


def test_laplace() -> None:
    x = np.array([-90.0, -1.0, 0.0, 1.0, 90.0])
    values, gradients = _values(special_math.log_cdf_laplace, x)
    lower, upper = x - np.log(2), np.log1p(-0.5 * np.exp(-np.abs(x)))
    np.testing.assert_allclose(values, np.where(x < 0, lower, upper))
    assert np.isfinite(gradients).all()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: special_math.ndtri(tf.constant(1)), TypeError),
        (lambda: special_math.log_ndtr(1.0, series_order=1.5), TypeError),
        (lambda: special_math.log_ndtr(1.0, series_order=-1), ValueError),
        (lambda: special_math.log_ndtr(1.0, series_order=31), ValueError),
    ],
)
def test_refused(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()
