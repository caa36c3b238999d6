"""Weights that broadcast to values: scalars, or of equal rank with sizes of one."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow.builders import Assert, no_op
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse.set import set_difference

_ERROR = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """An operation that fails unless the weights broadcast to the values.

    Raises:
      ValueError: the static shapes show that they do not.
    """
    with name_scope(None, "assert_broadcastable", [weights, values]) as scope:
        weights, weights_shape, weights_rank = _described(weights, "weights")
        values, values_shape, values_rank = _described(values, "values")
        problem = _static_problem(weights, values)
        if problem is not None:
            if problem.startswith("static"):
                return no_op(name=problem)
            raise ValueError(f"{_ERROR} {problem}")
        is_scalar = math_ops.equal(0, weights_rank, name="is_scalar")
        data = [_ERROR, "weights.shape=", weights.name, weights_shape]
        data += ["values.shape=", values.name, values_shape, "is_scalar=", is_scalar]
        valid = cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _is_valid(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        return Assert(valid, data, name=scope)


def _described(value: Any, name: str) -> tuple[Tensor, Tensor, Tensor]:
    """The tensor, its shape and its rank, named after what it is."""
    with name_scope(None, name, [value]) as scope:
        tensor = convert_to_tensor(value, name=scope)
        shape = array_ops.shape(tensor, name="shape")
        return tensor, shape, array_ops.rank(tensor, name="rank")


def _static_problem(weights: Tensor, values: Tensor) -> str | None:
    """What does not fit, the name of the check that fits, or None: not known yet."""
    rank, expected = weights.shape.rank, values.shape.rank
    if rank is None or expected is None:
        return None
    if rank == 0:
        return "static_scalar_check_success"
    if rank != expected:
        return (
            f"values.rank={expected}. weights.rank={rank}. "
            f"values.shape={values.shape}. weights.shape={weights.shape}."
        )
    sizes, wanted = weights.shape.as_list(), values.shape.as_list()
    if None in sizes or None in wanted:
        return None
    for i, (size, full) in enumerate(zip(sizes, wanted, strict=True)):
        if size not in (1, full):
            return f"Mismatch at dim {i}. values.shape={wanted} weights.shape={sizes}."
    return "static_dims_check_success"


def _is_valid(
    weights_rank: Tensor, weights_shape: Tensor, values_rank: Tensor, values_shape: Any
) -> Tensor:
    operands = [weights_rank, weights_shape, values_rank, values_shape]
    with name_scope(None, "has_valid_nonscalar_shape", operands) as scope:
        same_rank = math_ops.equal(values_rank, weights_rank, name="is_same_rank")
        return cond(  # type: ignore[no-any-return]
            same_rank,
            lambda: _has_valid_sizes(weights_shape, values_shape),
            lambda: same_rank,
            name=scope,
        )


def _has_valid_sizes(weights_shape: Tensor, values_shape: Tensor) -> Tensor:
    """Whether each size of the weights is one or the values'."""
    operands = [weights_shape, values_shape]
    with name_scope(None, "has_invalid_dims", operands) as scope:
        wanted = array_ops.expand_dims(values_shape, -1)
        valid = array_ops.concat((wanted, array_ops.ones_like(wanted)), axis=1)
        sizes = array_ops.expand_dims(weights_shape, -1)
        invalid = set_difference(sizes, valid)
        count = array_ops.size(invalid.values, name="num_invalid_dims")
        return math_ops.equal(0, count, name=scope)


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """The weights in the shape of the values, checked when the graph runs.

    Raises:
      ValueError: the static shapes show that they do not broadcast.
    """
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = convert_to_tensor(values, name="values")
        kind = values.dtype.base_dtype
        weights = convert_to_tensor(weights, dtype=kind, name="weights")
        shapes = weights.shape, values.shape
        if (
            shapes[0].is_fully_defined()
            and shapes[1].is_fully_defined()
            and shapes[0].is_compatible_with(shapes[1])
        ):
            return weights  # type: ignore[no-any-return]
        with control_dependencies([assert_broadcastable(weights, values)]):
            ones = array_ops.ones_like(values)
            product: Tensor = math_ops.multiply(weights, ones, name=scope)
            return product
