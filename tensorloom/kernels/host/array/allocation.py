"""Shapes that a step computes: checked before memory is asked for."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.types.dtype_words import dtype_word

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_MAX_ELEMENTS = 2**63 - 1
# Of an empty string in TensorFlow; here it is a pointer, and what a kernel makes of it.
_STRING_SIZE = 32


def shape_from_tensor(value: Any, dtype: DType, device: str) -> tuple[int, ...]:
    """The shape in a host vector (int32 or int64) that a result is to have.

    Raises:
      errors.InvalidArgumentError: it is not a vector, has a negative element, or
        stands for more elements than can be counted.
      errors.ResourceExhaustedError: the result would not fit into memory.
    """
    array = np.asarray(value)
    if array.ndim != 1:
        raise errors.InvalidArgumentError(
            None,
            None,
            "shape must be a vector of {int32,int64}, got shape "
            + shape_text(array.shape),
        )
    shape = tuple(array.tolist())
    check_shape(shape, dtype, device)
    return shape


def check_shape(shape: tuple[int, ...], dtype: DType, device: str) -> None:
    """Refuses shapes that no memory can hold, see `shape_from_tensor`."""
    check_dimensions(shape)
    check_memory(shape, dtype, device)


def check_dimensions(shape: tuple[int, ...]) -> None:
    """Refuses negative sizes, and more elements than can be counted."""
    elements = 1
    for size in shape:
        if size < 0:
            raise errors.InvalidArgumentError(
                None, None, f"Dimension {size} must be >= 0"
            )
        elements *= size
    if elements > _MAX_ELEMENTS:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Shape {shape_text(shape)} would have more than 2**63 - 1 elements",
        )


def check_memory(shape: tuple[int, ...], dtype: DType, device: str) -> None:
    """Refuses what is larger than the machine's memory.

    Linux grants address space that it does not have; writing to it kills the process.
    The machine's memory is the bound that can be known beforehand.
    """
    elements = math.prod(shape)
    size = _STRING_SIZE if dtype.name == "string" else dtype.size
    if elements > 1 << 20 and elements * size > _physical_memory():
        name = dtype_word(dtype)
        raise errors.ResourceExhaustedError(
            None,
            None,
            f"OOM when allocating tensor with shape{shape_text(shape)} and type "
            f"{name} on {device} by allocator cpu",
        )


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as TensorFlow's kernels print it: `[2,3]`."""
    return "[" + ",".join(map(str, shape)) + "]"


def _physical_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
