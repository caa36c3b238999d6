"""Ids as SparseTensors: from dense features, and how long their sequences are."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


def to_sparse_input(feature: Any, ignore_value: Any = None) -> SparseTensor:
    """A dense tensor's elements as a SparseTensor; one that is sparse as it is.

    Args:
      ignore_value: elements that are left out; by default "" and -1 (0.0 for floats),
        which stand for a missing value.
    """
    tensor = convert_to_tensor_or_sparse_tensor(feature)
    if isinstance(tensor, SparseTensor):
        return tensor
    with name_scope(None, "to_sparse_input", [tensor, ignore_value]):
        if ignore_value is None:
            ignore_value = _missing(tensor.dtype)
        ignore_value = math_ops.cast(ignore_value, tensor.dtype, name="ignore_value")
        indices = array_ops.where(
            math_ops.not_equal(tensor, ignore_value), name="indices"
        )
        return SparseTensor(
            indices=indices,
            values=array_ops.gather_nd(tensor, indices, name="values"),
            dense_shape=array_ops.shape(
                tensor, out_type=dtypes.int64, name="dense_shape"
            ),
        )


def _missing(dtype: Any) -> Any:
    if dtype == dtypes.string:
        return ""
    return -1 if dtype.is_integer else dtype.as_numpy_dtype()


def sequence_length_from_sparse_tensor(
    sp_tensor: SparseTensor, num_elements: int = 1
) -> Tensor:
    """Number of steps of each row, int64 [batch].

    Args:
      sp_tensor: [batch, elements] or [batch, steps, ...].
      num_elements: how many elements of the second dimension are one step.
    """
    with name_scope(None, "sequence_length") as scope:
        row_ids = sp_tensor.indices[:, 0]
        column_ids = sp_tensor.indices[:, 1]
        column_ids += array_ops.ones_like(column_ids)
        longest = math_ops.segment_max(column_ids, segment_ids=row_ids)
        lengths = math_ops.cast(math_ops.ceil(longest / num_elements), dtypes.int64)
        # Rows at the end that have no element are in no segment.
        missing = array_ops.shape(sp_tensor)[:1] - array_ops.shape(lengths)[:1]
        padding = array_ops.zeros(missing, dtype=lengths.dtype)
        return array_ops.concat([lengths, padding], axis=0, name=scope)
