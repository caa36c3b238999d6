"""Broadcasting of ragged tensors: dimensions of one are repeated.

A dimension that is ragged fits one of the same row lengths, or a uniform dimension of
size one. Both tensors are taken apart level by level; the rows of each level are
gathered as often as the other tensor has them.
"""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.shape import broadcast_static_shape
from tensorloom.ops.control_flow import builders as flow
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged.dimensions import expand_dims
from tensorloom.ops.ragged.functional import assert_splits_match
from tensorloom.ops.ragged.gather import gather
from tensorloom.ops.ragged.math import ragged_range
from tensorloom.ops.ragged.ragged_tensor import (
    RaggedTensor,
    is_ragged,
    row_splits_dtype,
)
from tensorloom.ops.ragged.segment_ids import lengths_to_splits, splits_to_lengths


def broadcast_flat_values(x: Any, y: Any) -> tuple[Any, Any, RaggedTensor]:
    """(values of x, values of y, a ragged tensor with the rows of the result).

    The dimensions of single values are left to the op.

    Raises:
      ValueError: the rank of a tensor is not known.
    """
    if x.shape.rank is None or y.shape.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    if not is_ragged(y) and x.flat_values.shape.rank > y.shape.rank:
        return x.flat_values, y, x
    if not is_ragged(x) and y.flat_values.shape.rank > x.shape.rank:
        return x, y.flat_values, y
    if is_ragged(x) and is_ragged(y) and _same_dimensions(x, y):
        return _matching(x, y)
    with name_scope(None, "RaggedBroadcast", [x, y]):
        kind = row_splits_dtype(x, y)
        rank = max(x.shape.rank, y.shape.rank)
        depth = max(_ragged_dimensions(t, rank) for t in (x, y))
        one, one_uniform = _deep(x, rank, depth, kind)
        other, other_uniform = _deep(y, rank, depth, kind)
        uniform = list(zip(one_uniform, other_uniform, strict=True))
        result = _align(_whole(one), _whole(other), uniform)
        rows = result[0].values
        count = broadcast_static_shape(one.shape[:1], other.shape[:1]).dims_tuple
        if count and count[0] is not None:
            rows.row_splits.set_shape([count[0] + 1])
        return result[0].flat_values, result[1].flat_values, rows


def _same_dimensions(x: RaggedTensor, y: RaggedTensor) -> bool:
    return x.shape.rank == y.shape.rank and x.ragged_rank == y.ragged_rank


def _matching(x: RaggedTensor, y: RaggedTensor) -> tuple[Any, Any, RaggedTensor]:
    """Both are ragged in the same dimensions, which have to be equal."""
    pairs = zip(x.nested_row_splits, y.nested_row_splits, strict=True)
    if all(a is b for a, b in pairs):
        return x.flat_values, y.flat_values, x
    checks = assert_splits_match([x.nested_row_splits, y.nested_row_splits])
    with control_dependencies(checks):
        values = array_ops.identity(x.flat_values)
    return values, y.flat_values, x


def _ragged_dimensions(tensor: Any, rank: int) -> int:
    """How many dimensions after the first reach to the last ragged one."""
    if not is_ragged(tensor):
        return 0
    return int(tensor.ragged_rank + rank - tensor.shape.rank)


def _deep(
    tensor: Any, rank: int, depth: int, kind: Any
) -> tuple[RaggedTensor, list[bool]]:
    """(the tensor with ranks as wanted, which of its dimensions are uniform)."""
    uniform = [True] * (depth + 1)
    if not is_ragged(tensor):
        for _ in range(rank - tensor.shape.rank):
            tensor = array_ops.expand_dims(tensor, 0)
        ragged = RaggedTensor.from_tensor(
            tensor, ragged_rank=depth, row_splits_dtype=kind
        )
        return ragged, uniform
    added = rank - tensor.shape.rank
    for i in range(tensor.ragged_rank):
        uniform[added + 1 + i] = False
    for _ in range(added):
        tensor = expand_dims(tensor, 0)
    if tensor.ragged_rank < depth:
        inner = RaggedTensor.from_tensor(
            tensor.flat_values,
            ragged_rank=depth - tensor.ragged_rank,
            row_splits_dtype=kind,
        )
        tensor = tensor.with_flat_values(inner)
    return tensor, uniform


def _whole(ragged: RaggedTensor) -> RaggedTensor:
    """The tensor as the only row of another."""
    splits = array_ops.stack([0, ragged.nrows()])
    return RaggedTensor.from_row_splits(ragged, splits, validate=False)


def _align(
    x: RaggedTensor, y: RaggedTensor, uniform: list[tuple[bool, bool]]
) -> tuple[RaggedTensor, RaggedTensor]:
    """Both with the rows of the result, x and y having equally many."""
    x_lengths = splits_to_lengths(x.row_splits)
    y_lengths = splits_to_lengths(y.row_splits)
    x_repeats = _is_repeated(x_lengths, y_lengths, uniform[0][0])
    y_repeats = _is_repeated(y_lengths, x_lengths, uniform[0][1])
    lengths = array_ops.where(x_repeats, y_lengths, x_lengths)
    fit = math_ops.logical_or(y_repeats, math_ops.equal(y_lengths, lengths))
    x_uniform, y_uniform = uniform[0]
    if x_uniform != y_uniform:
        # A ragged dimension fits a uniform one of size one only.
        one = math_ops.equal(x_lengths if x_uniform else y_lengths, 1)
        fit = math_ops.logical_and(fit, one)
    fits = math_ops.reduce_all(fit)
    check = flow.Assert(
        fits,
        [
            "Unable to broadcast: dimension size mismatch:",
            x_lengths,
            y_lengths,
        ],
        summarize=10,
    )
    with control_dependencies([check]):
        lengths = array_ops.identity(lengths)
    columns = ragged_range(lengths, row_splits_dtype=lengths.dtype).values
    parts = [
        _repeated(t, repeats, lengths, columns)
        for t, repeats in ((x, x_repeats), (y, y_repeats))
    ]
    if len(uniform) > 1:
        parts = list(_align(parts[0], parts[1], uniform[1:]))
    splits = lengths_to_splits(lengths)
    first, second = (
        RaggedTensor.from_row_splits(part, splits, validate=False) for part in parts
    )
    return first, second


def _is_repeated(lengths: Tensor, others: Tensor, is_uniform: bool) -> Tensor:
    """Whether the rows, all of one element, are repeated; the same for each row."""
    if not is_uniform:
        return array_ops.zeros_like(lengths, dtype="bool")
    all_one = math_ops.reduce_all(math_ops.equal(lengths, 1))
    same = math_ops.reduce_all(math_ops.equal(lengths, others))
    repeats = math_ops.logical_and(all_one, math_ops.logical_not(same))
    return array_ops.fill(array_ops.shape(lengths), repeats)


def _repeated(
    ragged: RaggedTensor, repeats: Tensor, lengths: Tensor, columns: Tensor
) -> Any:
    """The values of rows, of which each row's only one may be repeated."""
    starts = array_ops.repeat_with_axis(ragged.row_starts(), lengths, axis=0)
    is_repeated = array_ops.repeat_with_axis(repeats, lengths, axis=0)
    offsets = array_ops.where(is_repeated, array_ops.zeros_like(columns), columns)
    values = ragged.values
    pick = gather if is_ragged(values) else array_ops.gather
    return pick(values, starts + offsets)
