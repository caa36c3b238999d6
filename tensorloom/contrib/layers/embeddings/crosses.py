"""Crosses of features by the ops of contrib, and what makes tensors sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.fill import ones_like, zeros_like
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.indexing.gather import gather_nd
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import bucketize as bucketize_op
from tensorloom.ops.math.comparison import equal, not_equal
from tensorloom.ops.reductions.reductions import reduce_max
from tensorloom.ops.reductions.scan import cumsum
from tensorloom.ops.reductions.segment import unsorted_segment_max
from tensorloom.ops.sparse import cross  # noqa: F401 - it has the ops

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE
for _package in ("layers", "slim"):
    export_value(
        SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY,
        f"contrib.{_package}.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY",
    )


@export("contrib.slim.sparse_feature_cross")
def sparse_feature_cross(
    inputs: list[Any],
    hashed_output: bool = False,
    num_buckets: int = 0,
    name: str | None = None,
    hash_key: int | None = None,
) -> SparseTensor:
    """Each combination of the values of a row, as one string or one hash.

    Args:
      inputs: tensors `[batch, values]`, sparse or dense, of strings or integers.
      hashed_output: whether the result is of hashes, int64, rather than strings.
      num_buckets: hashes are below this number; any where it is 0.
      name: of the operation.
      hash_key: of the fingerprints' combination. None: an older hash is used.

    Raises:
      TypeError: no list, or an input is no tensor.
    """
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(each, (SparseTensor, Tensor)) for each in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [each for each in inputs if isinstance(each, SparseTensor)]
    dense = [each for each in inputs if not isinstance(each, SparseTensor)]
    is_text = all(each.dtype == dtypes.string for each in inputs)
    key = {"hash_key": hash_key} if hash_key else {}
    found = apply_op(
        "SparseFeatureCrossV2" if hash_key else "SparseFeatureCross",
        indices=[each.indices for each in sparse],
        values=[_text_or_integers(each.values) for each in sparse],
        shapes=[each.dense_shape for each in sparse],
        dense=[_text_or_integers(each) for each in dense],
        hashed_output=hashed_output,
        num_buckets=num_buckets,
        out_type=dtypes.int64 if hashed_output else dtypes.string,
        internal_type=dtypes.string if is_text else dtypes.int64,
        name=name,
        **key,
    )
    return SparseTensor(*found)


def _text_or_integers(tensor: Any) -> Any:
    return tensor if tensor.dtype == dtypes.string else cast(tensor, dtypes.int64)


@export("contrib.slim.bucketize")
def bucketize(input_tensor: Any, boundaries: Any, name: str | None = None) -> Any:
    """The number of boundaries that are not above each value, int32.

    Args:
      input_tensor: numbers of any shape.
      boundaries: a sorted list of floats.
      name: of the operation.

    Raises:
      TypeError: the boundaries are no list.
    """
    return bucketize_op(input_tensor, boundaries, name=name)


def _ignored(dtype: Any, ignore_value: Any) -> Any:
    if ignore_value is None:
        is_text = dtype == dtypes.string
        ignore_value = "" if is_text else np.zeros((), dtype.as_numpy_dtype)[()]
    return cast(ignore_value, dtype, name="ignore_value")


def dense_to_sparse_tensor(dense_tensor: Any, ignore_value: Any = None) -> SparseTensor:
    """The elements of a tensor that are not `ignore_value`: zero, or empty, when None.

    Raises:
      ValueError: the rank is unknown.
    """
    with name_scope("DenseToSparseTensor"):
        dense_tensor = convert_to_tensor(dense_tensor)
        ignored = _ignored(dense_tensor.dtype, ignore_value)
        indices = where(not_equal(dense_tensor, ignored), name="indices")
        return SparseTensor(
            indices=indices,
            values=gather_nd(dense_tensor, indices, name="values"),
            dense_shape=shape(dense_tensor, out_type=dtypes.int64, name="dense_shape"),
        )


def indicators_to_sparse_ids(
    indicators: Any, ignore_value: Any = None, dtype: Any = dtypes.int64
) -> SparseTensor:
    """The classes that are marked in the last axis, as lists of their ids.

    Args:
      indicators: `[..., classes]`; what is not `ignore_value` is a mark.
      ignore_value: zero, or empty, when None.
      dtype: of the ids.

    Returns:
      `[..., most marks of a row]`.

    Raises:
      ValueError: the dtype is no integer.
    """
    if not dtype.is_integer:
        raise ValueError(f"Invalid dtype {dtype} not integer.")
    with name_scope(None, "indicators_to_sparse_ids", [indicators, ignore_value]):
        indicators = convert_to_tensor(indicators, name="indicators")
        missing = equal(
            indicators, _ignored(indicators.dtype, ignore_value), name="missing"
        )
        zeros = zeros_like(indicators, dtype=dtypes.int64, name="zeros")
        ones = ones_like(indicators, dtype=dtypes.int64, name="ones")
        marks = where(missing, zeros, ones, name="binary_indicators")
        # The place of a mark in its row's list, counted from 1.
        places = where(missing, zeros, cumsum(marks, axis=-1), "row_index_indicators")
        length = reshape(reduce_max(places), shape=(1,), name="result_last_dim")
        found = dense_to_sparse_tensor(places, ignore_value=0)
        # The class is where the mark was; its place was the value.
        return SparseTensor(
            indices=concat(
                (found.indices[:, :-1], reshape(found.values - 1, (-1, 1))),
                axis=1,
                name="indices",
            ),
            values=cast(found.indices[:, -1], dtype, name="values"),
            dense_shape=concat(
                (found.dense_shape[0:-1], length), axis=0, name="dense_shape"
            ),
        )


def sparse_row_envelope(
    sparse_input: SparseTensor,
    row_axis: int = 0,
    col_axis: int = 1,
    name: str | None = None,
) -> Any:
    """How far each row of a SparseTensor reaches: one more than its last column.

    Raises:
      ValueError: the axes are the same, or no integers.
    """
    for axis in (row_axis, col_axis):
        if not isinstance(axis, (int, np.integer)):
            raise ValueError("`row_axis` and `col_axis` must be integers.")
    if row_axis == col_axis:
        raise ValueError("Row and column can not be the same axis.")
    with name_scope(name, "sparse_row_envelope", [sparse_input]):
        rows = sparse_input.indices[:, row_axis]
        columns = sparse_input.indices[:, col_axis]
        count = cast(sparse_input.dense_shape[row_axis], dtypes.int32)
        ends = unsorted_segment_max(columns + 1, rows, count, name=name)
        zeros = zeros_like(ends)
        return where(ends > zeros, ends, zeros)
