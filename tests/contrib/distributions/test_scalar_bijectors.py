"""Maps of single numbers, their Jacobians, and masks of dense layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.distributions.bijectors import flows
from tensorloom.contrib.distributions.bijectors.weibull import Weibull


def _run(*fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def test_weibull() -> None:
    x = np.array([0.5, 1.0, 4.0])
    bijector = Weibull(np.float64(2.0), np.float64(1.5), validate_args=True)
    y = -np.expm1(-((x / 2) ** 1.5))
    slope = 0.75 * np.sqrt(x / 2) * np.exp(-((x / 2) ** 1.5))
    found = _run(
        bijector.forward(x),
        bijector.inverse(y),
        bijector.forward_log_det_jacobian(x, 0),
        bijector.inverse_log_det_jacobian(y, 0),
    )
    for mine, expected in zip(
        found, (y, x, np.log(slope), -np.log(slope)), strict=True
    ):
        np.testing.assert_allclose(mine, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Weibull(validate_args=True).forward(-1.0), "at least 0"),
        (lambda: Weibull(validate_args=True).inverse(2.0), "less than or equal to 1"),
        (lambda: Weibull(-1.0, validate_args=True).forward(1.0), "scale was not pos"),
        (
            lambda: tf.contrib.distributions.bijectors.AbsoluteValue(
                validate_args=True
            ).inverse_log_det_jacobian(-1.0, 0),
            "y was negative",
        ),
    ],
)
def test_arguments_are_checked(make: Any, message: str) -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
        _run(make())


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("exclusive", [[0, 0, 0], [1, 0, 0], [1, 1, 0]]),
        ("inclusive", [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
    ],
)
def test_masks(kind: str, rows: list[list[int]]) -> None:
    mask = flows.gen_mask(3, 3, 6, kind, tf.float64)
    assert mask.dtype == np.float64
    assert mask.tolist() == np.repeat(rows, 2, axis=0).tolist()


@pytest.mark.parametrize("before", [[2, 3], [2, -1]])
@pytest.mark.parametrize("size", [2, None])
def test_events_of_another_shape(before: list[int], size: int | None) -> None:
    fed = tf.placeholder_with_default(np.array(before, np.int32), [size])
    bijector = tf.contrib.distributions.bijectors.Reshape(
        [1, 6], fed, validate_args=True
    )
    assert _run(bijector.forward(np.ones([4, 2, 3])))[0].shape == (4, 1, 6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not match"):
        _run(bijector.forward(np.ones([4, 3, 2])))
