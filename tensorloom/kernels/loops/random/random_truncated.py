"""Normal values within bounds of their own, as TensorFlow's kernel samples them.

Robert, "Simulation of truncated normal variables", 1995, chooses one of three
proposals by the bounds: the normal distribution itself, a uniform one, or a shifted
exponential one. All arithmetic is in the dtype of the result. A kernel that needs this
imports it where it is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.kernels.loops.random import truncated_normals as loops

if TYPE_CHECKING:
    from tensorloom.kernels.host.random.philox import Stream

_Array = NDArray[Any]
_NAMES: Final = {
    loops.NORMAL: "normal",
    loops.UNIFORM: "uniform",
    loops.EXPONENTIAL: "exponential",
}
_DIGITS: Final = {2: loops.HALF, 4: loops.SINGLE, 8: loops.DOUBLE}  # by bytes
# Bounds at least so many deviations away on one side: the normal distribution itself.
_DEVIATIONS_FOR_NORMAL: Final = 1.3


class Bounds(NamedTuple):
    """Means, deviations and bounds [batches] of truncated distributions, one dtype."""

    mean: _Array
    deviation: _Array
    low: _Array
    high: _Array


def truncated_samples(
    stream: Stream, bounds: Bounds, samples: int, total: int
) -> _Array:
    """Values [total], `samples` of each batch but the last, which has what remains.

    One distribution is that of all batches. Each begins with a new step of proposals.

    Raises:
      errors.InvalidArgumentError: the bounds hold no interval.
      errors.InternalError: none of many proposals was accepted, as of an infinite mean.
    """
    mean, deviation, low, high = bounds
    finite = np.isfinite(low) | np.isfinite(high)
    if not np.all((deviation > 0) & (low < high) & finite):
        raise errors.InvalidArgumentError(None, None, "Invalid parameters")
    # Mirrored, so that a single bound is the lower one.
    mirrored = (np.isinf(low) & (low < 0)) | (high < mean)
    low, high = np.where(mirrored, high, low), np.where(mirrored, low, high)
    deviation = np.where(mirrored, -deviation, deviation)
    with np.errstate(all="ignore"):
        low, high = (low - mean) / deviation, (high - mean) / deviation
        proposals, extra = _proposals(low, high)
    values = np.empty(total)
    refused = loops.truncated(
        *stream.halves(),
        _DIGITS[mean.dtype.itemsize],
        proposals,
        low.astype(np.float64),
        high.astype(np.float64),
        extra.astype(np.float64),
        max(samples, 1),
        values,
    )
    if refused >= 0:
        raise errors.InternalError(
            None,
            None,
            f"TruncatedNormal {_NAMES[refused]} rejection sampler failed to accept a "
            "sample.",
        )
    rows = values.astype(mean.dtype).reshape(len(mean), total // max(len(mean), 1))
    with np.errstate(over="ignore"):
        rows *= deviation[:, None]
        rows += mean[:, None]
    return rows.reshape(-1)


def _proposals(low: _Array, high: _Array) -> tuple[NDArray[np.int64], _Array]:
    """How to sample each [low, high], and the number that it takes besides."""
    number = low.dtype.type
    root = np.sqrt(low * low + number(4))
    exponent = number(0.5) + (low * (low - root)) / number(4)
    cutoff = number(2) * _exp(exponent) / (low + root)
    limit = number(_DEVIATIONS_FOR_NORMAL)
    normal = ((low < -limit) & (high >= 0)) | ((high > limit) & (low <= 0))
    uniform = ~normal & (high - low < cutoff)
    proposals = np.where(normal, loops.NORMAL, loops.EXPONENTIAL)
    square = np.where(low < 0, number(0), low * low)
    rate = (low + root) / number(2)
    return np.where(uniform, loops.UNIFORM, proposals), np.where(uniform, square, rate)


def _exp(values: _Array) -> _Array:
    """As the C library's exp, but for last bits of doubles, which only are compared."""
    return np.exp(values.astype(np.float64)).astype(values.dtype)
