"""`scipy.misc.derivative` as SciPy 1.11 had it."""

from __future__ import annotations

import numpy as np
import pytest

from tensorloom.compat.legacy.scipy_derivative import central_diff_weights, derivative


@pytest.mark.parametrize(
    ("count", "which", "weights"),
    [
        (3, 1, [-1 / 2, 0, 1 / 2]),
        (5, 2, [-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12]),
        (7, 3, [1 / 8, -1, 13 / 8, 0, -13 / 8, 1, -1 / 8]),
    ],
)
def test_weights(count: int, which: int, weights: list[float]) -> None:
    np.testing.assert_allclose(central_diff_weights(count, which), weights, atol=1e-12)


def test_derivatives() -> None:
    np.testing.assert_allclose(derivative(np.sin, 0.3, dx=1e-3), np.cos(0.3), rtol=1e-6)
    second = derivative(lambda x, a: a * x**4, 2.0, 1e-2, n=2, args=(3.0,), order=7)
    np.testing.assert_allclose(second, 144.0, rtol=1e-6)


@pytest.mark.parametrize(("order", "message"), [(2, "must be odd"), (1, "at least")])
def test_misuse(order: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        derivative(np.sin, 0.0, order=order)
    with pytest.raises(ValueError, match=message):
        central_diff_weights(order)
