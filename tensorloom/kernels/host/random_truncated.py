"""Normal values within bounds of their own, as TensorFlow's kernel samples them.

Robert, "Simulation of truncated normal variables", 1995, chooses one of three
proposals by the bounds: the normal distribution itself, a uniform one, or a shifted
exponential one. All arithmetic is in the dtype of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.kernels.host import random_distributions as distributions
from tensorloom.kernels.host.glibc_math import logf
from tensorloom.kernels.host.libm import logarithms
from tensorloom.kernels.host.philox import Stream

_Array = NDArray[Any]
MAX_ITERATIONS: Final = 1000
# So many groups of values at a time stay in the cache.
_MOST_GROUPS: Final = 8192
# Bounds at least so many deviations away on one side: the normal distribution itself.
_DEVIATIONS_FOR_NORMAL: Final = 1.3
_Proposal = Callable[[Stream, int], tuple[_Array, _Array]]


class Bounds(NamedTuple):
    """Mean, deviation and bounds of one truncated distribution, in its dtype."""

    mean: Any
    deviation: Any
    low: Any
    high: Any


def truncated_samples(
    stream: Stream, count: int, bounds: Bounds, piece: int | None = None
) -> tuple[_Array, Stream]:
    """`count` values [count], and the stream after the words that they took.

    Every `piece` values begin with a new step of the proposals.

    Raises:
      errors.InvalidArgumentError: the bounds hold no interval.
      errors.InternalError: none of many proposals was accepted, as of an infinite mean.
    """
    mean, deviation, low, high = bounds
    dtype = mean.dtype
    finite = np.isfinite(low) or np.isfinite(high)
    if not (deviation > 0 and low < high and finite):
        raise errors.InvalidArgumentError(None, None, "Invalid parameters")
    if (np.isinf(low) and low < 0) or high < mean:
        # Mirrored, so that a single bound is the lower one.
        low, high, deviation = high, low, -deviation
    low, high = (low - mean) / deviation, (high - mean) / deviation
    propose, group = _proposal(low, high, dtype)
    out = np.empty(count, dtype)
    done = refused = 0
    while done < count:
        groups = min(max(4, -(-2 * (count - done) // group)), _MOST_GROUPS)
        values, accepted = propose(stream, groups)
        before = done
        done, used = _take(values, accepted.reshape(groups, group), out, done, piece)
        refused = 0 if done > before else refused + groups * group
        if refused > MAX_ITERATIONS:
            raise errors.InternalError(
                None,
                None,
                f"TruncatedNormal {propose.__name__} rejection sampler failed to "
                "accept a sample.",
            )
        stream = stream.skip(used * (2 if propose.__name__ == "uniform" else 1))
    return out * deviation + mean, stream


def _take(
    values: _Array, accepted: _Array, out: _Array, done: int, piece: int | None
) -> tuple[int, int]:
    """Fills out[done:] with accepted values: (how far it is filled, groups used).

    What is left of the group with a piece's last value is not used.
    """
    groups, group = accepted.shape
    places = np.flatnonzero(accepted)
    chosen = values[places]
    ends = np.cumsum(np.count_nonzero(accepted, axis=1)).tolist()
    begin, size = 0, piece or len(out)
    while True:
        end = min(done - done % size + size, len(out))
        last = begin + end - done
        if last > len(chosen):
            rest = chosen[begin:]
            out[done : done + len(rest)] = rest
            return done + len(rest), groups
        out[done:end] = chosen[begin:last]
        done, used = end, int(places[last - 1]) // group + 1
        if done == len(out):
            return done, used
        begin = ends[used - 1]


def _proposal(low: Any, high: Any, dtype: Any) -> tuple[_Proposal, int]:
    """The way to sample [low, high], and how many values a step of it proposes."""
    number = dtype.type
    root = np.sqrt(low * low + number(4))
    exponent = number(0.5) + (low * (low - root)) / number(4)
    cutoff = number(2) * _exp(exponent) / (low + root)
    per_block = 2 if dtype == np.float64 else 4
    limit = number(_DEVIATIONS_FOR_NORMAL)
    if (low < -limit and high >= 0) or (high > limit and low <= 0):
        return _normal(low, high, dtype), per_block
    if high - low < cutoff:
        return _uniform(low, high, dtype, per_block), per_block
    return _exponential(low, high, dtype), per_block // 2


def _normal(low: Any, high: Any, dtype: Any) -> _Proposal:
    def normal(stream: Stream, groups: int) -> tuple[_Array, _Array]:
        count = groups * (2 if dtype == np.float64 else 4)
        values = distributions.standard_normal(stream, count, dtype)
        return values, (values >= low) & (values <= high)

    return normal


def _uniform(low: Any, high: Any, dtype: Any, size: int) -> _Proposal:
    number = dtype.type
    plus = number(0) if low < 0 else low * low

    def uniform(stream: Stream, groups: int) -> tuple[_Array, _Array]:
        drawn = distributions.uniform(stream, 2 * groups * size, dtype)
        pairs = drawn.reshape(groups, 2, size)
        values = pairs[:, 0] * (high - low) + low
        likely = _exp((plus - values * values) / number(2))
        return values.reshape(-1), (pairs[:, 1] <= likely).reshape(-1)

    return uniform


def _exponential(low: Any, high: Any, dtype: Any) -> _Proposal:
    number = dtype.type
    alpha = (low + np.sqrt(low * low + number(4))) / number(2)

    def exponential(stream: Stream, groups: int) -> tuple[_Array, _Array]:
        count = groups * (2 if dtype == np.float64 else 4)
        pairs = distributions.uniform(stream, count, dtype).reshape(-1, 2)
        values = -_log(pairs[:, 0]) / alpha + low
        x = alpha - values if low < alpha else np.full_like(values, low - alpha)
        likely = _exp(-x * x / number(2))
        return values, (pairs[:, 1] <= likely) & (values < high)

    return exponential


def _exp(value: Any) -> Any:
    """As the C library's exp, but for last bits of doubles, which only are compared.

    Halves and floats are rounded from a wider one.
    """
    if value.dtype == np.float64:
        return np.exp(value)
    return np.exp(np.asarray(value, np.float64)).astype(value.dtype)[()]


def _log(value: _Array) -> _Array:
    if value.dtype == np.float32:
        return logf(value)
    if value.dtype == np.float64:
        # 0 is drawn too, once in 2**52 values.
        return logarithms(np.maximum(value, np.finfo(np.float64).tiny))
    return np.log(value.astype(np.float64)).astype(value.dtype)
