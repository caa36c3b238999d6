"""`tensorflow.python.framework.composite_tensor_utils`: batches of batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.sparse_tensor import SparseTensor, SparseTensorValue
from tensorloom.ops.ragged.concat import concat
from tensorloom.ops.ragged.ragged_tensor import RaggedTensor
from tensorloom.ops.ragged.ragged_value import RaggedTensorValue
from tensorloom.ops.sparse.shape_builders import sparse_concat


def is_composite_or_composite_value(tensor: Any) -> bool:
    """Whether it is several tensors in one, or what a session gives for such."""
    kinds = CompositeTensor, SparseTensorValue, RaggedTensorValue
    return isinstance(tensor, kinds)


def get_shape(tensor: Any) -> Any:
    """The shape of a sparse or ragged tensor or value."""
    if isinstance(tensor, SparseTensorValue):
        return tensor.dense_shape
    return tensor.shape


def append_composite_tensor(target: Any, to_append: Any) -> Any:
    """The rows of one sparse or ragged tensor, or value, after those of another.

    Raises:
      RuntimeError: they are of different kinds or inner shapes.
    """
    if type(target) is not type(to_append):
        raise RuntimeError(
            f"Unable to concatenate {type(target)} and {type(to_append)}"
        )
    if isinstance(target, SparseTensor):
        return sparse_concat(axis=0, sp_inputs=[target, to_append])
    if isinstance(target, RaggedTensor):
        return concat([target, to_append], axis=0)
    if isinstance(target, SparseTensorValue):
        return _append_sparse(target, to_append)
    if isinstance(target, RaggedTensorValue):
        return _append_ragged(target, to_append)
    raise RuntimeError(f"Attempted to concatenate unsupported object {type(target)}.")


def _append_sparse(one: SparseTensorValue, other: SparseTensorValue) -> Any:
    if list(one.dense_shape[1:]) != list(other.dense_shape[1:]):
        raise RuntimeError(
            f"Unable to concatenate {one} and {other}. The inner dense shapes do not "
            f"match inner dimensions ({one.dense_shape[1:]} vs {other.dense_shape[1:]})"
        )
    rows = one.dense_shape[0]
    moved = np.array(other.indices)
    moved[:, 0] += rows
    # As in TensorFlow, empty rows at the end of the second value are left out.
    last = max(rows, *moved[:, 0]) if len(moved) else rows
    return SparseTensorValue(
        np.concatenate([one.indices, moved]),
        np.concatenate([one.values, other.values]),
        (last + 1, *one.dense_shape[1:]),
    )


def _append_ragged(one: RaggedTensorValue, other: RaggedTensorValue) -> Any:
    if one.shape[1:] != other.shape[1:]:
        raise RuntimeError(f"Unable to concatenate {one} and {other}")
    splits = np.append(one.row_splits, other.row_splits[1:] + one.row_splits[-1])
    if isinstance(one.values, RaggedTensorValue):
        return RaggedTensorValue(_append_ragged(one.values, other.values), splits)
    return RaggedTensorValue(np.concatenate([one.values, other.values]), splits)
