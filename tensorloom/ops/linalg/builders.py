"""Matrices made from other ops: `tf.eye`."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


@export("eye", "linalg.eye")
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: DType = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices, [*batch_shape, num_rows, num_columns].

    Args:
      num_rows, num_columns: integers or int32 scalars; columns default to the rows.
      batch_shape: a list of integers, or an int32 vector.

    Raises:
      TypeError: the sizes are neither integers nor tensors.
    """
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        square = num_columns is None
        columns = num_rows if square else num_columns
        batch = [] if batch_shape is None else batch_shape
        size: Any
        if isinstance(num_rows, Tensor) or isinstance(columns, Tensor):
            size = math_ops.minimum(num_rows, columns)
        else:
            if not isinstance(num_rows, numbers.Integral) or not isinstance(
                columns, numbers.Integral
            ):
                raise TypeError(
                    "num_rows and num_columns must be positive integer values."
                )
            square = num_rows == columns
            size = np.minimum(int(num_rows), int(columns))
        diagonal_shape, shape = _shapes(batch, size, num_rows, columns, square)
        ones = array_ops.ones(diagonal_shape, dtype=dtype)
        if square:
            return array_ops.matrix_diag(ones)
        return array_ops.matrix_set_diag(array_ops.zeros(shape, dtype=dtype), ones)


def _shapes(
    batch: Any, size: Any, rows: Any, columns: Any, square: bool
) -> tuple[Any, Any]:
    """The shapes of the diagonals and, unless square, of the whole."""
    if isinstance(batch, Tensor) or isinstance(size, Tensor):
        batch = convert_to_tensor(batch, name="shape", dtype=dtypes.int32)
        diagonal = array_ops.concat((batch, [size]), axis=0)
        if square:
            return diagonal, None
        return diagonal, array_ops.concat((batch, [rows, columns]), axis=0)
    batch = list(batch)
    return [*batch, size], [*batch, rows, columns]
