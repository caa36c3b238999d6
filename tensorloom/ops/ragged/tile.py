"""Ragged tensors repeated along their dimensions."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged.ragged_tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
)
from tensorloom.ops.ragged.segment_ids import (
    lengths_to_splits,
    splits_to_lengths,
    to_int_tensor,
)


def repeat_ranges(params: Tensor, splits: Tensor, repeats: Tensor) -> Tensor:
    """Each range of values `repeats` times: [a b][c] by 2 is a b a b c c."""
    if repeats.shape.rank != 0:
        starts = array_ops.repeat_with_axis(splits[:-1], repeats, axis=0)
        limits = array_ops.repeat_with_axis(splits[1:], repeats, axis=0)
    else:
        repeated = array_ops.repeat_with_axis(splits, repeats, axis=0)
        count = array_ops.shape(repeated, out_type=repeats.dtype)[0]
        starts, limits = repeated[: count - repeats], repeated[repeats:]
    one = array_ops.ones((), starts.dtype)
    places = apply_op("RaggedRange", starts=starts, limits=limits, deltas=one)[1]
    return array_ops.gather(params, places)


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """The tensor repeated along each dimension."""
    with name_scope(name, "RaggedTile", [input, multiples]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not is_ragged(input):
            return array_ops.tile(input, multiples, name)
        multiples = to_int_tensor(multiples, "multiples", input.row_splits.dtype)
        multiples.shape.assert_has_rank(1)
        known = constant_value(multiples)
        return RaggedTensor.from_nested_row_splits(
            _tile_values(input, multiples, known),
            _tile_splits(input, multiples, known),
            validate=False,
        )


def _tile_values(ragged: RaggedTensor, multiples: Tensor, known: Any) -> Tensor:
    rank, nested = ragged.ragged_rank, ragged.nested_row_splits
    places = math_ops.range(nested[-1][-1])
    previous = None
    for axis in range(rank, 0, -1):
        splits = nested[axis - 1]
        if previous is not None:
            splits = array_ops.gather(previous * multiples[axis + 1], splits)
        if known is None or known[axis] != 1:
            places = repeat_ranges(places, splits, multiples[axis])
        previous = splits
    tiled = array_ops.gather(ragged.flat_values, places)
    inner = array_ops.concat([multiples[:1], multiples[rank + 1 :]], axis=0)
    return array_ops.tile(tiled, inner)


def _tile_splits(ragged: RaggedTensor, multiples: Tensor, known: Any) -> list[Tensor]:
    rank, nested = ragged.ragged_rank, ragged.nested_row_splits
    # Rows of an outer dimension as ranges of the rows of an inner one.
    projected = [{i: nested[i]} for i in range(rank)]
    for outer in range(rank):
        for inner in range(outer + 1, rank - 1):
            projected[outer][inner] = array_ops.gather(
                nested[inner], projected[outer][inner - 1]
            )
    result = []
    for axis in range(rank):
        lengths = splits_to_lengths(nested[axis]) * multiples[axis + 1]
        repeats: Any = 1
        for d in range(axis - 1, -1, -1):
            if known is None or known[d + 1] != 1:
                splits = projected[d][axis - 1] * repeats
                lengths = repeat_ranges(lengths, splits, multiples[d + 1])
            repeats *= multiples[d + 1]
        lengths = array_ops.tile(lengths, multiples[:1])
        result.append(lengths_to_splits(lengths))
    return result
