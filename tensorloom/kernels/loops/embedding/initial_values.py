"""First values of a row: the same for a seed and a key wherever and whenever made."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.loops import loop
from tensorloom.kernels.loops.random.philox_words import block
from tensorloom.kernels.loops.random.truncated_normals import single_normals

CONSTANT: Final = 0
UNIFORM: Final = 1
NORMAL: Final = 2
TRUNCATED_NORMAL: Final = 3

_U = np.uint64
_ONE, _ZERO = _U(1), _U(0)
_MANTISSA, _UNIT = _U(0x7FFFFF), 2.0**-23


@loop
def fill_initial(
    kind: int, first: float, second: float, seed: Any, keys: Any, at: Any, out: Any
) -> None:
    """Fills some rows with the first values of their keys.

    Args:
      kind: one of the constants above.
      first: the constant, the lower bound, or the mean.
      second: the upper bound, or the standard deviation.
      seed: uint64.
      keys: int64 [n].
      at: int64 [k], which of the keys and rows.
      out: [n, width].
    """
    for i in range(len(at)):
        row = at[i]
        if kind == CONSTANT:
            for j in range(out.shape[1]):
                out[row, j] = first
        else:
            _draw(kind, first, second, seed, _U(keys[row]), row, out)


@loop
def _draw(
    kind: int, first: float, second: float, seed: Any, key: Any, row: int, out: Any
) -> None:
    number, j, width = _ZERO, 0, out.shape[1]
    while j < width:
        # The stream of a key: its upper half of the counter is the key.
        words = block(seed, _ZERO, key, number)
        number += _ONE
        if kind == UNIFORM:
            for k in range(4):
                if j < width:
                    unit = np.float64(words[k] & _MANTISSA) * _UNIT
                    out[row, j] = first + (second - first) * unit
                    j += 1
        else:
            a, b = single_normals(words[0], words[1])
            c, d = single_normals(words[2], words[3])
            normals = a, b, c, d
            for k in range(4):
                fits = kind == NORMAL or -2.0 <= normals[k] <= 2.0
                if fits and j < width:
                    out[row, j] = first + second * normals[k]
                    j += 1
