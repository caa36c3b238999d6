"""Complex numbers as pairs of floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop

# So many floats at a time stay in the cache.
_BLOCK = 4096


@loop
def divide_plain(x: Any, y: Any, least: Any, most: Any, out: Any) -> bool:
    """out = x * conj(y) / |y|^2; False where a square or a quotient is special.

    Args:
      x, y, out: real and imaginary parts in turn, [2 * n] of one dtype.
      least, most: what the squares |y|^2 are between, of that dtype.
    """
    for begin in range(0, len(y), _BLOCK):
        part = y[begin : begin + _BLOCK]
        if not _are_between(part, least, most):
            return False
        quotients = out[begin : begin + _BLOCK]
        _divide(x[begin : begin + _BLOCK], part, quotients)
        if not _are_finite(quotients):
            return False
    return True


# One loop for each: with both in one the machine code has no vectors.


@loop
def _are_between(y: Any, least: Any, most: Any) -> Any:
    """Whether all squares are; NaN is not."""
    count = np.int32(0)
    for i in range(len(y) // 2):
        square = y[2 * i] * y[2 * i] + y[2 * i + 1] * y[2 * i + 1]
        count += np.int32((square > least) & (square < most))
    return count == len(y) // 2


@loop
def _divide(x: Any, y: Any, out: Any) -> None:
    for i in range(len(y) // 2):
        a, b, c, d = x[2 * i], x[2 * i + 1], y[2 * i], y[2 * i + 1]
        inverse = np.float32(1) / (c * c + d * d)
        c *= inverse
        d *= inverse
        out[2 * i] = a * c + b * d
        out[2 * i + 1] = b * c - a * d


@loop
def _are_finite(values: Any) -> Any:
    count = np.int32(0)
    for i in range(len(values)):
        # NaN of what is not finite.
        count += np.int32(values[i] - values[i] == 0)
    return count == len(values)
