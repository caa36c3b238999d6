"""Tensors whose shapes are checked: when the graph is made, else when it runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.debugging.check_type import assert_scalar
from tensorloom.ops.math import math_ops


@export("contrib.framework.with_same_shape")
def with_same_shape(expected_tensor: Tensor, tensor: Tensor) -> Tensor:
    """`tensor`, checked to have the shape of `expected_tensor`.

    Raises:
      ValueError: the static shapes differ. (When run: InvalidArgumentError.)
    """
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        static = expected_tensor.shape
        if static.is_fully_defined():
            return with_shape(static.as_list(), tensor)
        return with_shape(
            array_ops.shape(expected_tensor, name="expected_shape"), tensor
        )


@export("contrib.framework.with_shape")
def with_shape(expected_shape: Any, tensor: Any) -> Tensor:
    """`tensor`, checked to have a shape. Where one element is one too many
    dimensions away from a scalar, it becomes a scalar.

    Args:
      expected_shape: int32, a list, an array or a tensor; -1 fits every size.
      tensor: what to check.

    Raises:
      ValueError: the static shape differs, a sparse tensor, or no shape at all.
    """
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor not supported.")
    if isinstance(expected_shape, Tensor):
        _check_dtype(expected_shape.dtype.base_dtype, expected_shape, tensor)
        return _checked_when_run(expected_shape, tensor)
    sizes = _sizes(expected_shape, tensor)
    actual = tensor.shape
    if not actual.is_fully_defined():
        if not len(sizes):
            return _as_scalar(tensor)
        result = _checked_when_run(sizes, tensor)
        result.set_shape(sizes)
        return result
    if actual.is_compatible_with(sizes):
        return tensor  # type: ignore[no-any-return]
    if not len(sizes) and actual.is_compatible_with([1]):
        return _as_scalar(tensor)
    raise ValueError(
        f"Invalid shape for tensor {tensor.name}, expected {sizes}, got {actual}."
    )


def _sizes(shape: Any, tensor: Tensor) -> Any:
    """The expected shape as an int32 vector. Raises ValueError."""
    if isinstance(shape, list | tuple):
        shape = np.asarray(shape) if shape else np.asarray([], np.int32)
        if shape.dtype == np.int64:
            shape = shape.astype(np.int32)
    if isinstance(shape, np.ndarray):
        if shape.ndim > 1:
            raise ValueError(
                f"Invalid rank {shape.ndim} for shape {shape} expected of tensor "
                f"{tensor.name}."
            )
        _check_dtype(shape.dtype, shape, tensor)
    return shape


def _check_dtype(dtype: Any, shape: Any, tensor: Tensor) -> None:
    if dtype != dtypes.int32:
        raise ValueError(
            f"Invalid dtype {dtype} for shape {shape} expected of tensor {tensor.name}."
        )


def _as_scalar(tensor: Tensor) -> Tensor:
    with name_scope(f"{tensor.op.name}/", values=[tensor]):
        return array_ops.reshape(tensor, [])


def _checked_when_run(expected: Any, tensor: Tensor) -> Tensor:
    with (
        name_scope(f"{tensor.op.name}/", values=[tensor]),
        control_dependencies([_assert_shape(expected, tensor)]),
    ):
        return array_ops.identity(tensor)


def _assert_shape(expected: Any, tensor: Tensor) -> Operation:
    with name_scope("assert_shape", values=[tensor]) as scope:
        actual = array_ops.shape(tensor, name="actual")
        return control_flow_ops.Assert(
            _has_shape(expected, tensor, actual),
            [f"Wrong shape for {tensor.name} [expected] [actual].", expected, actual],
            name=scope,
        )


def _has_shape(expected: Any, tensor: Tensor, actual: Tensor) -> Tensor:
    with name_scope("is_shape", values=[tensor]) as scope:
        size = array_ops.size(expected)
        with name_scope("is_rank", values=[tensor]) as rank_scope:
            rank = array_ops.rank(tensor, name="actual")
            is_rank = math_ops.equal(size, rank, name=rank_scope)
        with name_scope("shape_tensor_equal", values=[expected, actual]) as equal_scope:
            fits = math_ops.logical_or(
                math_ops.equal(expected, -1),
                math_ops.equal(expected, actual, "equal"),
                name="exclude_partial_shape",
            )
            is_equal = math_ops.reduce_all(fits, name=equal_scope)
        return math_ops.logical_and(is_rank, is_equal, name=scope)


@export("contrib.framework.assert_scalar_int")
def assert_scalar_int(tensor: Any, name: str | None = None) -> Tensor:
    """`tensor`, checked to be a scalar of an integer dtype.

    Raises:
      ValueError: it is not. (Of unknown rank, when run: InvalidArgumentError.)
    """
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(
                f"Expected integer type for {tensor.name}, received type: "
                f"{tensor.dtype!r}."
            )
        return assert_scalar(tensor, name=scope)
