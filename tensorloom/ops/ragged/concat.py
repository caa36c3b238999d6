"""Ragged tensors joined along a dimension, or along a new one."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import stack as stack_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged.dimensions import expand_dims
from tensorloom.ops.ragged.functional import assert_splits_match
from tensorloom.ops.ragged.gather import gather
from tensorloom.ops.ragged.ragged_tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    row_splits_dtype,
)
from tensorloom.ops.ragged.segment_ids import lengths_to_splits, positive_axis


def concat(values: Any, axis: int, name: str | None = None) -> Any:
    """Ragged and dense tensors joined along an axis."""
    values = list(values) if isinstance(values, list | tuple) else [values]
    with name_scope(name, "RaggedConcat", values):
        return _join(values, axis, False)


@export("ragged.stack")
def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Ragged and dense tensors of one rank joined along a new axis.

    Raises:
      ValueError: no tensors, or of several ranks.
    """
    values = list(values) if isinstance(values, list | tuple) else [values]
    with name_scope(name, "RaggedConcat", values):
        return _join(values, axis, True)


def _join(inputs: list[Any], axis: int, is_new: bool) -> Any:
    if not inputs:
        raise ValueError("rt_inputs may not be empty.")
    inputs = [convert_to_tensor_or_ragged_tensor(x, name="rt_input") for x in inputs]
    kind = row_splits_dtype(*inputs)
    if len(inputs) == 1:
        if is_new:
            return expand_dims(inputs[0], axis=axis)
        return inputs[0]
    rank = _common_rank(inputs)
    out_rank = rank + 1 if rank is not None and is_new else rank
    axis = positive_axis(axis, out_rank)
    # Along the last dimension, dense tensors stay dense.
    last = () if rank is None or out_rank is None else (out_rank - 1, rank - 1)
    if axis in last and not any(map(is_ragged, inputs)):
        join = stack_ops.stack if is_new else array_ops.concat
        return join(inputs, axis)
    parts = [_as_ragged(x, kind) for x in inputs]
    depth = max(part.ragged_rank for part in parts)
    parts = [_deepen(part, depth, kind) for part in parts]
    if axis == 0:
        return _join_rows(parts, is_new)
    if axis == 1:
        return _join_columns(parts, is_new)
    with control_dependencies(assert_splits_match([[p.row_splits] for p in parts])):
        values = _join([part.values for part in parts], axis - 1, is_new)
        return RaggedTensor.from_row_splits(values, parts[0].row_splits, validate=False)


def _common_rank(inputs: list[Any]) -> int | None:
    rank: int | None = None
    for x in inputs:
        if rank is None:
            rank = x.shape.rank
        else:
            x.shape.assert_has_rank(rank)
    return rank


def _as_ragged(value: Any, kind: Any) -> RaggedTensor:
    if is_ragged(value):
        return value  # type: ignore[no-any-return]
    return RaggedTensor.from_tensor(value, ragged_rank=1, row_splits_dtype=kind)


def _deepen(ragged: Any, depth: int, kind: Any) -> RaggedTensor:
    """The same with as many ragged dimensions."""
    ragged = _as_ragged(ragged, kind)
    if ragged.ragged_rank < depth:
        return ragged.with_values(_deepen(ragged.values, depth - 1, kind))  # type: ignore[no-any-return]
    return ragged  # type: ignore[no-any-return]


def _join_rows(parts: list[RaggedTensor], is_new: bool) -> RaggedTensor:
    values = array_ops.concat([part.flat_values for part in parts], axis=0)
    nested = [part.nested_row_splits for part in parts]
    splits = [_join_splits(list(level)) for level in zip(*nested, strict=True)]
    if is_new:
        counts = array_ops.stack([part.nrows() for part in parts])
        splits.insert(0, lengths_to_splits(counts))
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)  # type: ignore[no-any-return]


def _join_splits(every: list[Tensor]) -> Tensor:
    pieces, offset = [every[0]], every[0][-1]
    for splits in every[1:]:
        pieces.append(splits[1:] + offset)
        offset += splits[-1]
    return array_ops.concat(pieces, axis=0)


def _join_columns(parts: list[RaggedTensor], is_new: bool) -> RaggedTensor:
    """Row i of all parts one after another, for each i."""
    count, rows = len(parts), parts[0].nrows()
    message = "Input tensors have incompatible shapes."
    checks = [
        check_ops.assert_equal(part.nrows(), rows, message=message)
        for part in parts[1:]
    ]
    with control_dependencies(checks):
        joined = _join_rows(parts, False)
        order = array_ops.reshape(math_ops.range(rows * count), [count, -1])
        order = array_ops.reshape(array_ops.transpose(order), [-1])
        permuted = gather(joined, order)
        if is_new:
            splits = math_ops.range(0, rows * count + 1, count)
            values = permuted
        else:
            splits, values = permuted.row_splits[::count], permuted.values
        for part in parts:
            known = part.shape.dims_tuple
            if known and known[0] is not None:
                splits.set_shape(TensorShape.of((known[0] + 1,)))
        return RaggedTensor.from_row_splits(values, splits, validate=False)
