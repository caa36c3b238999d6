"""Arrays of strings: object arrays of bytes, of rank 0 for a scalar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def map_strings(function: Callable[[Any], bytes], array: Any) -> Any:
    """An object array of what a function makes of each element."""
    values = np.asarray(array)
    return to_strings([function(x) for x in values.reshape(-1).tolist()], values.shape)


def to_strings(flat: Sequence[bytes], shape: tuple[int, ...]) -> Any:
    """An object array of that shape."""
    return np.fromiter(flat, object, len(flat)).reshape(shape)
