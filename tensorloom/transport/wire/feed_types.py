"""Checks of values that come from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.transport.wire.tensors import RemoteResource

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


def check_types(values: Sequence[Any], types: Sequence[DType]) -> None:
    """Checks that fed values are of the dtypes that a step takes.

    Raises:
      errors.InvalidArgumentError: one is not, or there are too many or too few.
    """
    if len(values) != len(types):
        raise errors.InvalidArgumentError(
            None, None, f"The step takes {len(types)} values, but got {len(values)}"
        )
    for index, (value, dtype) in enumerate(zip(values, types, strict=True)):
        found = _dtype_of(value)
        if found is not dtype and not _is_base(found, dtype):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Feed {index} must be of dtype {dtype.name}, but is of {found.name}",
            )


def _is_base(found: DType, dtype: DType) -> bool:
    """Whether a value is of the integers that a quantized dtype has at run time."""
    return dtype.is_quantized and found.np_dtype == dtype.np_dtype[0]


def _dtype_of(value: Any) -> DType:
    if isinstance(value, RemoteResource):
        return dtypes.resource
    if isinstance(value, bytes):
        return dtypes.string
    return dtypes.as_dtype(np.asarray(value).dtype)
