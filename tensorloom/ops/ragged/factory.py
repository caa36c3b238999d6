"""Ragged tensors of Python lists, and those that are fed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.ragged.ragged_tensor import RaggedTensor, is_ragged
from tensorloom.ops.ragged.ragged_value import RaggedTensorValue

# (values, dtype, shape, name) -> what holds the innermost values
_MakeValues = Callable[[Any, Any, Any, "str | None"], Any]
_MakeRagged = Callable[[Any, list[int]], Any]


@export("ragged.constant")
def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A RaggedTensor of nested lists (a Tensor if none of its dimensions is ragged).

    Args:
      ragged_rank: how many dimensions are ragged; all but the first and the inner
        ones by default.
      inner_shape: the shape of the innermost values.

    Raises:
      ValueError: the lists do not fit together, or not with the ranks.
    """

    def ragged(values: Any, splits: list[int]) -> RaggedTensor:
        tensor = constant_op.constant(splits, dtype=row_splits_dtype)
        return RaggedTensor.from_row_splits(values, tensor, validate=False)

    def inner(values: Any, dtype: Any, shape: Any, name: str | None) -> Any:
        return constant_op.constant(values, dtype, shape, name or "Const")

    with name_scope(name, "RaggedConstant", []):
        return _build(ragged, inner, pylist, dtype, ragged_rank, inner_shape)


@export("ragged.constant_value")
def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """A RaggedTensorValue of nested lists (an array if no dimension is ragged).

    Raises:
      ValueError: as `constant`.
    """
    if isinstance(dtype, dtypes.DType):
        dtype = dtype.as_numpy_dtype
    splits_type = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype

    def ragged(values: Any, splits: list[int]) -> RaggedTensorValue:
        return RaggedTensorValue(values, np.array(splits, splits_type))

    def inner(values: Any, dtype: Any, shape: Any, name: str | None) -> Any:
        return np.reshape(np.array(values, dtype=dtype), shape)

    return _build(ragged, inner, pylist, dtype, ragged_rank, inner_shape)


def _build(
    make_ragged: _MakeRagged,
    make_values: _MakeValues,
    pylist: Any,
    dtype: Any,
    ragged_rank: int | None,
    inner_shape: Any,
) -> Any:
    if is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    if not _is_nested(pylist):
        if ragged_rank:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with "
                f"ragged_rank={ragged_rank}"
            )
        if inner_shape:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with "
                f"dim(inner_shape)={len(inner_shape)}"
            )
        return make_values(pylist, dtype, (), None)
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    scalar_depth, depth = _depths(pylist)
    _check_depths(pylist, scalar_depth, depth, ragged_rank, inner_shape)
    inner_dims = 0 if inner_shape is None else len(inner_shape)
    if ragged_rank == 0 or (
        ragged_rank is None and (depth < 2 or (inner_dims and depth - inner_dims < 2))
    ):
        return make_values(pylist, dtype, inner_shape, None)
    if inner_shape is None:
        inner_shape = () if ragged_rank is None else _inner_shape(pylist, ragged_rank)
    if ragged_rank is None:
        most = depth - 1 if scalar_depth is None else scalar_depth - 1 - inner_dims
        ragged_rank = max(1, most)
    values, every_splits = pylist, []
    for _ in range(ragged_rank):
        splits, joined = [0], []
        for row in values:
            joined.extend(row)
            splits.append(len(joined))
        every_splits.append(splits)
        values = joined
    result = make_values(values, dtype, (len(values), *inner_shape), "values")
    for splits in reversed(every_splits):
        result = make_ragged(result, splits)
    return result


def _is_nested(value: Any) -> bool:
    return isinstance(value, list | tuple) or np.ndim(value) != 0


def _depths(pylist: Any) -> tuple[int | None, int]:
    """(how deep the scalars are, None without any; how deep the lists are)."""
    if not _is_nested(pylist):
        return 0, 0
    scalar_depth, depth = None, 1
    for child in pylist:
        child_scalar, child_depth = _depths(child)
        if child_scalar is not None:
            if scalar_depth not in (None, child_scalar + 1):
                raise ValueError("all scalar values must have the same nesting depth")
            scalar_depth = child_scalar + 1
        depth = max(depth, child_depth + 1)
    return scalar_depth, depth


def _check_depths(
    pylist: Any,
    scalar_depth: int | None,
    depth: int,
    ragged_rank: int | None,
    inner_shape: Any,
) -> None:
    if scalar_depth is not None and depth > scalar_depth:
        raise ValueError(
            f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar "
            "value nesting"
        )
    if inner_shape is None or ragged_rank is None:
        return
    expected = ragged_rank + len(inner_shape) + 1
    if (scalar_depth is not None and expected != scalar_depth) or (
        scalar_depth is None and expected < depth
    ):
        raise ValueError(
            f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} "
            f"and dim(inner_shape)={len(inner_shape)}"
        )


def _inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """The shape of the values below the ragged dimensions."""
    flat = pylist
    for depth in range(ragged_rank):
        if not all(_is_nested(item) for item in flat):
            raise ValueError(
                f"pylist has scalar values depth {depth + 1}, but ragged_rank="
                f"{ragged_rank} requires scalar value depth greater than {ragged_rank}"
            )
        flat = [child for item in flat for child in item]
    shape, item = [], flat
    while _is_nested(item):
        shape.append(len(item))
        if not len(item):
            break
        item = item[0]
    _check_shape(flat, tuple(shape))
    return tuple(shape[1:])


def _check_shape(item: Any, shape: tuple[int, ...]) -> None:
    if _is_nested(item) != bool(shape) or (shape and len(item) != shape[0]):
        raise ValueError("inner values have inconsistent shape")
    if shape:
        for child in item:
            _check_shape(child, shape[1:])


@export("ragged.placeholder")
def placeholder(
    dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None
) -> Any:
    """A RaggedTensor to be fed with a RaggedTensorValue."""
    if ragged_rank == 0:
        return array_ops.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        flat = TensorShape.of((None,)).concatenate(TensorShape(value_shape))
        result: Any = array_ops.placeholder(dtype, flat, "flat_values")
        for i in reversed(range(ragged_rank)):
            splits = array_ops.placeholder(dtypes.int64, [None], f"row_splits_{i}")
            result = RaggedTensor(result, splits, internal=True)
        return result
