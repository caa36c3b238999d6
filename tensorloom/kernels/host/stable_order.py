"""Small integers in order, and where they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def stable_order(keys: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(the keys in order, their places), equal keys in the order of their places.

    Key and place in one number are sorted ten times as fast as by a stable argsort.

    Args:
      keys: integers [n] from 0, whose number of bits and that of n are 63 at most.
    """
    bits = len(keys).bit_length()
    pairs: NDArray[np.int64] = keys.astype(np.int64)
    pairs <<= bits
    pairs |= np.arange(len(keys))
    pairs.sort()
    return pairs >> bits, pairs & ((1 << bits) - 1)
