"""Arrays of Python objects, which hold strings and variants in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np


def object_scalar(value: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """An array of rank 0 that holds one object, whatever it is."""
    array = np.empty((), object)
    array[()] = value
    return array


def as_object_array(value: Any) -> Any:
    """Arrays as they are, a single object as an array of rank 0."""
    return value if isinstance(value, np.ndarray) else object_scalar(value)
