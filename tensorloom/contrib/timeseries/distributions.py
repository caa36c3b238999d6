"""Logarithms of densities, as the models use them."""

from __future__ import annotations

import math
from typing import Any

from tensorloom.ops.array import shape
from tensorloom.ops.linalg import matrix_diag, matrix_solve
from tensorloom.ops.math import cast, elementwise
from tensorloom.ops.reductions import reductions


def normal_log_prob(loc: Any, scale: Any, x: Any) -> Any:
    """Of a normal distribution. As in TensorFlow, the scale counts by half."""
    z = (x - loc) / scale
    return -0.5 * (
        elementwise.square(z) + math.log(2.0 * math.pi) + elementwise.log(scale)
    )


def cauchy_log_prob(loc: Any, scale: Any, x: Any) -> Any:
    """Of a Cauchy distribution."""
    z = (x - loc) / scale
    normalization = -math.log(math.pi) - elementwise.log(scale)
    return normalization - elementwise.log1p(elementwise.square(z))


def mvn_tril_log_prob(loc: Any, scale_tril: Any, x: Any) -> Any:
    """Of a normal distribution; its covariance has the factor `scale_tril`."""
    z = matrix_solve.matrix_triangular_solve(scale_tril, (x - loc)[..., None])[..., 0]
    log_det = 2.0 * reductions.reduce_sum(
        elementwise.log(matrix_diag.matrix_diag_part(scale_tril)), axis=-1
    )
    size = cast.cast(shape.shape(scale_tril)[-1], log_det.dtype)
    return -0.5 * (
        reductions.reduce_sum(elementwise.square(z), axis=-1)
        + size * math.log(2.0 * math.pi)
        + log_det
    )


def entropy_matched_cauchy_scale(covariance: Any) -> Any:
    """The scale of Cauchy distributions with the entropy of normal ones.

    ln(4 pi scale) is 0.5 ln(2 pi e variance) for it.

    Args:
      covariance: [batch, n, n], of which the diagonal counts.

    Returns:
      [batch, n].
    """
    factor = math.e / (8.0 * math.pi)
    return elementwise.sqrt(factor * matrix_diag.matrix_diag_part(covariance))
