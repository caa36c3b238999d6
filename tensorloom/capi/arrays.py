"""Values of tensors between the memory of C and NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy import ndarray

from tensorloom.framework.types import dtypes

__all__ = ("DTYPES", "in_one_piece", "ndarray", "of_strings", "strings_of")

_HIGHEST: Final = 24


def _memory_dtype(number: int) -> Any:
    """The dtype of an array over a tensor's bytes; None if it has none."""
    try:
        dtype = dtypes.as_dtype(number)
        return dtype.np_dtype if dtype.is_numpy_compatible else None
    except TypeError:
        return None


#: NumPy's dtype for each number of the `DataType` enum.
DTYPES: Final = tuple(_memory_dtype(number) for number in range(_HIGHEST))


def of_strings(strings: list[bytes], shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """An object array of bytes."""
    array = np.empty(len(strings), dtype=object)
    array[:] = strings
    return array.reshape(shape)


def strings_of(value: Any) -> tuple[list[bytes], tuple[int, ...]]:
    """The strings of a string tensor in row-major order, and its shape."""
    if isinstance(value, bytes):
        return [value], ()
    array = np.asarray(value)
    return [_to_bytes(item) for item in array.ravel().tolist()], array.shape


def _to_bytes(item: Any) -> bytes:
    return item.encode() if isinstance(item, str) else bytes(item)


def in_one_piece(value: Any) -> np.ndarray[Any, Any]:
    """An array whose elements lie in a row, of a dtype whose buffer can be taken."""
    array = np.ascontiguousarray(value).reshape(np.shape(value))
    if array.dtype.names is not None:
        array = dtypes.memory_view(array)
    return array.view(f"V{array.itemsize}") if array.dtype.kind == "V" else array
