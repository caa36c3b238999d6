"""Number and sizes of the dimensions of ragged tensors: new ones, ones left out."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.control_flow import builders as flow
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged.ragged_tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
)
from tensorloom.ops.ragged.segment_ids import (
    positive_axis,
)


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor with a new dimension of one."""
    with name_scope(name, "RaggedExpandDims", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not is_ragged(input):
            return array_ops.expand_dims(input, axis)
        rank = input.shape.rank
        axis = positive_axis(axis, None if rank is None else rank + 1)
        if axis == 0:
            splits = array_ops.stack([0, input.nrows()])
            return RaggedTensor.from_row_splits(input, splits, validate=False)
        if axis == 1:
            splits = math_ops.range(input.nrows() + 1)
            return RaggedTensor.from_row_splits(input, splits, validate=False)
        values = expand_dims(input.values, axis - 1)
        return RaggedTensor.from_row_splits(values, input.row_splits, validate=False)


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """The tensor without dimensions of one.

    Raises:
      ValueError: a ragged tensor and no axis.
      TypeError: axes that are no ints.
    """
    with name_scope(name, "RaggedSqueeze", [input]):
        input = convert_to_tensor_or_ragged_tensor(input)
        if isinstance(input, Tensor):
            return reshape_ops.squeeze(input, axis, name)
        if axis is None:
            raise ValueError("Ragged.squeeze must have an axis argument.")
        axes = [axis] if isinstance(axis, int) else axis
        if not isinstance(axes, list | tuple) or not all(
            isinstance(d, int) for d in axes
        ):
            raise TypeError("Axis must be a list or tuple of integers.")
        axes = [positive_axis(d, input.shape.rank) for d in axes]
        depth = input.ragged_rank
        dense = [d - depth for d in axes if d > depth]
        ragged = {d for d in axes if d <= depth}
        values: Any = flow.with_dependencies(
            _squeeze_checks(input, ragged), input.flat_values
        )
        if dense:
            values = reshape_ops.squeeze(values, dense)
        kept = [s for i, s in enumerate(input.nested_row_splits) if i + 1 not in ragged]
        if kept and 0 in ragged:
            kept.pop(0)
        result = RaggedTensor.from_nested_row_splits(values, kept)
        if ragged >= set(range(depth + 1)):
            return reshape_ops.squeeze(result, [0], name)
        return result


def _squeeze_checks(ragged: RaggedTensor, axes: set[int]) -> list[Any]:
    checks = []
    one = array_ops.constant(1, dtype=ragged.row_splits.dtype)
    for i, lengths in enumerate(ragged.nested_row_lengths()):
        if i + 1 in axes:
            are_one = math_ops.reduce_all(math_ops.equal(lengths, one))
            text = f"the given axis (axis = {i + 1}) is not squeezable!"
            checks.append(flow.Assert(are_one, [text]))
    if 0 in axes:
        two = array_ops.constant(2, dtype=dtypes.int32)
        is_one = math_ops.equal(array_ops.size(ragged.row_splits), two)
        checks.append(
            flow.Assert(is_one, ["the given axis (axis = 0) is not squeezable!"])
        )
    return checks


def size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """The number of values."""
    values = input.flat_values if is_ragged(input) else input
    return array_ops.size(values, out_type=out_type, name=name)


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of dimensions."""
    with name_scope(name, "RaggedRank", [input]):
        if not is_ragged(input):
            return array_ops.rank(input, name)
        return input.ragged_rank + array_ops.rank(input.flat_values)  # type: ignore[no-any-return]
