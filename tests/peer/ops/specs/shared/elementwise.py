"""Parts of specs that several families use: POLYNOMIALS, plain, same, special, unary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import Tolerance

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, 1e30]


def special(d: Draw, array: Any) -> Any:
    """The last example of a floating-point cell has NaN, infinities and zeros."""
    if d.example == 2 and (d.dtype.is_floating) and array.size:
        count = min(array.size, len(SPECIAL))
        with np.errstate(all="ignore"):
            values = np.array(d.rng.permutation(SPECIAL)[:count]).astype(array.dtype)
        array = array.copy()
        array.reshape(-1)[:count] = values
    return array


def unary(low: float | None = None, high: float | None = None) -> Any:
    """One input with values in low..high, and what is special."""
    return lambda d: (special(d, d.array(low=low, high=high)),)


def plain(low: float | None = None, high: float | None = None) -> Any:
    """One input with values in low..high."""
    return lambda d: (d.array(low=low, high=high),)


def same(low: float | None = None, high: float | None = None) -> Any:
    """Two inputs of one shape."""

    def make(d: Draw) -> Any:
        shape = d.shape()
        return d.array(shape, low=low, high=high), d.array(shape, low=low, high=high)

    return make


POLYNOMIALS = Tolerance(
    2e-5, 2e-6, "Eigen's single precision polynomials are off by a few units"
)
