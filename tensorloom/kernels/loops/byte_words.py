"""Words of eight bytes in a buffer."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop

_U = np.uint64


@loop
def word_at(blob: Any, at: int) -> Any:
    """The eight bytes from a position on, which the compiler reads at once."""
    first = _U(at)
    word = _U(blob[first])
    for i in range(1, 8):
        word |= _U(blob[first + _U(i)]) << _U(8 * i)
    return word
