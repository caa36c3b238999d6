"""The C library's logarithm, sine and cosine of doubles, for whole arrays.

NumPy's and torch's vector loops differ from the C library's functions in last bits,
and TensorFlow's random numbers come from the latter. torch's loops of `xlogy` and
`polar` call them for each element. Where nothing has loaded torch, and for few values,
Python's `math` does, at ten times the cost.
"""

from __future__ import annotations

import math
import sys
from typing import Final

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
# Fewer values are not worth the conversions to torch and back.
_FEW: Final = 64


def logarithms(values: Doubles) -> Doubles:
    """log(value), positive values [n]."""
    if _is_for_math(values):
        return np.fromiter(map(math.log, values.tolist()), np.float64, len(values))
    import torch

    one = torch.ones((), dtype=torch.float64)
    return torch.xlogy(one, torch.from_numpy(values)).numpy()


def polar(radius: Doubles, angles: Doubles) -> tuple[Doubles, Doubles]:
    """(radius * sin(angle), radius * cos(angle)), both [n]."""
    if _is_for_math(angles):
        turns, count = angles.tolist(), len(angles)
        sine = np.fromiter(map(math.sin, turns), np.float64, count)
        cosine = np.fromiter(map(math.cos, turns), np.float64, count)
        return sine * radius, cosine * radius
    import torch

    values = torch.polar(torch.from_numpy(radius), torch.from_numpy(angles)).numpy()
    return values.imag, values.real


def _is_for_math(values: Doubles) -> bool:
    return len(values) < _FEW or "torch" not in sys.modules
