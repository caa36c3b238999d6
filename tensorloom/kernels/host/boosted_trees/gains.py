"""What a split gains: weights of leaves by gradients and hessians.

Each leaf minimizes (h + l2) / 2 * w**2 + g * w + l1 * abs(w) (Chen and Guestrin,
"XGBoost", 2016). All numbers are float32, as TensorFlow's.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[Any]
_F = np.float32
_TINY: Final = _F(1e-15)


def gain_is_larger(a: Any, b: Any) -> bool:
    """Whether a gain is above another one by more than rounding."""
    return bool(_F(a) - _F(b) >= _TINY)


def gains_are_equal(a: Any, b: Any) -> bool:
    """Whether two gains differ by no more than rounding."""
    return bool(abs(_F(a) - _F(b)) <= _TINY)


def weights_and_gains(
    gradients: _Array, hessians: _Array, l1: Any, l2: Any
) -> tuple[_Array, _Array]:
    """(weights, gains) of single-dimensional gradients, elementwise."""
    g, h = np.asarray(gradients, _F), np.asarray(hessians, _F) + _F(l2)
    none = h <= _TINY
    if l1 > 0:
        shrunk = np.where(g > l1, g - _F(l1), np.where(g < -l1, g + _F(l1), _F(0)))
        none = none | (shrunk == 0)
        g = shrunk
    weights = np.where(none, _F(0), -g / np.where(none, _F(1), h)).astype(_F)
    gains = np.where(none, _F(0), -g * weights).astype(_F)
    return weights, gains


def vector_weights_and_gains(
    gradients: _Array, hessians: _Array, l1: Any, l2: Any
) -> tuple[_Array, Any]:
    """(weights [..., k], gains [...]) of gradients [..., k].

    hessians: [..., k] are diagonals, [..., k * k] whole matrices.
    """
    size = gradients.shape[-1]
    if size == 1:
        weights, gains = weights_and_gains(gradients, hessians, l1, l2)
        return weights, gains[..., 0]
    if hessians.shape[-1] == size:
        divisor = hessians + _F(l2)
        none = (divisor == 0).all(axis=-1, keepdims=True)
        weights = np.where(none, _F(0), -gradients / np.where(none, _F(1), divisor))
    else:
        matrix = hessians.reshape(*hessians.shape[:-1], size, size)
        matrix = matrix + np.eye(size, dtype=_F) * _F(l2)
        weights = _solve(matrix, -gradients)
    weights = weights.astype(_F)
    return weights, -(gradients * weights).sum(axis=-1, dtype=_F)


def _solve(matrices: _Array, right: _Array) -> _Array:
    """Solutions; zero where a matrix has none of its own."""
    result = np.zeros(right.shape, _F)
    for index in np.ndindex(*right.shape[:-1]):
        if matrices[index].any():
            result[index] = np.linalg.lstsq(matrices[index], right[index], rcond=None)[
                0
            ]
    return result
