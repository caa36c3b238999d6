"""Division of complex numbers on a CPU in vectors.

torch and NumPy divide one element at a time, scaled so that nothing overflows on the
way: 9 ns. The textbook's quotient takes a few passes over vectors, and is the same
where no square of a denominator overflows or underflows; whether that is so is seen
from those squares, and from the sum of the quotients.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch

# Below, the calls are what counts.
_FEWEST_ELEMENTS: Final = 16384
# Beyond, torch has all cores.
_MOST_ELEMENTS: Final = 1 << 20
# So many elements at a time stay in the cache.
_BLOCK: Final = 16384
# Between these, squares of a denominator's absolute value keep all of their digits.
_LIMITS: Final = {
    torch.complex64: (1e-30, 1e30),
    torch.complex128: (1e-290, 1e290),
}


def divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x / y of complex tensors whose shapes broadcast."""
    limits = _LIMITS.get(y.dtype)
    if (
        limits is not None
        and x.dtype is y.dtype
        and y.is_cpu
        and x.shape == y.shape
        and _FEWEST_ELEMENTS <= y.numel() <= _MOST_ELEMENTS
    ):
        quotients = np.empty(y.shape, y.numpy().dtype)
        first, second = x.numpy().reshape(-1), y.numpy().reshape(-1)
        if _divide_plain(first, second, quotients.reshape(-1), *limits):
            return torch.from_numpy(quotients)
    return torch.div(x, y)


def _divide_plain(x: Any, y: Any, out: Any, least: float, most: float) -> bool:
    """out = x * conj(y) / |y|^2; False where the squares or the quotients are special.

    Args:
      x, y, out: complex [n].
      least, most: what the squares are between.
    """
    inverses = np.empty(_BLOCK, y.dtype)
    squares, others = np.empty((2, _BLOCK), y.real.dtype)
    with np.errstate(all="ignore"):
        for begin in range(0, len(y), _BLOCK):
            some = slice(begin, begin + _BLOCK)
            part, result = y[some], out[some]
            square, other, inverse = (
                buffer[: len(part)] for buffer in (squares, others, inverses)
            )
            np.multiply(part.real, part.real, out=square)
            np.multiply(part.imag, part.imag, out=other)
            square += other
            # NaN is not between either.
            if not least < square.min().item() <= square.max().item() < most:
                return False
            np.conjugate(part, out=inverse)
            inverse *= np.reciprocal(square, out=square)
            np.multiply(x[some], inverse, out=result)
            if not np.isfinite(np.add.reduce(result.view(square.dtype))):
                return False
    return True
