"""Losses of single numbers, in one pass over them.

The functions are Cephes's (S. Moshier, `expf`, and the series of atanh for a logarithm
near one), without its branches: the compiler makes vectors of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop

_F = np.float32
# exp of this is no normal number: zero here, as where TensorFlow computes.
_LEAST = _F(-88.0)
_LOG2_E = _F(1.44269504088896341)
# log(2) in two parts, the first of few bits.
_LN2_HIGH, _LN2_LOW = _F(0.693359375), _F(-2.12194440e-4)
_E0, _E1, _E2 = _F(1.9875691500e-4), _F(1.3981999507e-3), _F(8.3334519073e-3)
_E3, _E4, _E5 = _F(4.1665795894e-2), _F(1.6666665459e-1), _F(5.0000001201e-1)
_L1, _L2, _L3, _L4 = _F(1 / 3), _F(1 / 5), _F(1 / 7), _F(1 / 9)
_L5 = _F(1 / 11)
_ZERO, _HALF, _ONE, _TWO = _F(0), _F(0.5), _F(1), _F(2)
# Of a float32's exponent, and where it stands in the bits.
_BIAS, _MANTISSA_BITS = 127, 23


@loop
def _exp_below(x: Any) -> Any:
    """exp of a float32 up to zero; two units in the last place at most."""
    x = max(x, _LEAST)
    power = np.floor(x * _LOG2_E + _HALF)
    rest = x - power * _LN2_HIGH - power * _LN2_LOW
    p = _E0 * rest + _E1
    p = p * rest + _E2
    p = p * rest + _E3
    p = p * rest + _E4
    p = p * rest + _E5
    p = p * (rest * rest) + rest + _ONE
    bits = np.int32((np.int32(power) + _BIAS) << _MANTISSA_BITS)
    return p * bits.view(np.float32)


@loop
def _log1p_of_share(x: Any) -> Any:
    """log(1 + x) of a float32 from zero to one: 2 atanh(x / (2 + x))."""
    u = x / (x + _TWO)
    w = u * u
    s = _L5 * w + _L4
    s = s * w + _L3
    s = s * w + _L2
    s = s * w + _L1
    return _TWO * (s * w * u + u)


@loop
def sigmoid_cross_entropy(x: Any, z: Any, out: Any) -> None:
    """out = max(x, 0) - x * z + log(1 + exp(-abs(x))), float32 [n].

    The relative error is 3e-7 at most.
    """
    for i in range(len(x)):
        tail = _log1p_of_share(_exp_below(-abs(x[i])))
        out[i] = max(x[i], _ZERO) - x[i] * z[i] + tail


@loop
def sigmoid_cross_entropy_grad(g: Any, x: Any, rest: Any, out: Any) -> None:
    """out = g * sigmoid(x) + rest, float32 [n]."""
    for i in range(len(x)):
        power = _exp_below(-abs(x[i]))
        share = _ONE / (_ONE + power)
        out[i] = g[i] * (share if x[i] >= _ZERO else power * share) + rest[i]
