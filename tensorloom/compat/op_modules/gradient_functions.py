"""Functions of TensorFlow's gradient modules that are no part of the public API."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.client.gradients.gradients import gradients
from tensorloom.client.variables.variable_lists import global_variables
from tensorloom.framework.registry.gradient_registry import get_gradient_function
from tensorloom.framework.types import nest
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.shape import shape_internal
from tensorloom.ops.math import math_ops

_VARIABLES: Final = ("Variable", "VariableV2", "VarHandleOp")


def as_indexed_slices(x: Any, optimize: bool = True) -> Any:
    """All rows of a tensor as IndexedSlices, which stay as they are.

    Raises:
      TypeError: `x` is neither.
    """
    if isinstance(x, IndexedSlices):
        return x
    if not hasattr(x, "op"):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(x)}")
    shape = shape_internal(x, optimize=optimize)
    return IndexedSlices(x, math_ops.range(0, shape[0]), shape)


def hessian_vector_product(ys: Any, xs: list[Any], v: list[Any]) -> list[Any]:
    """The products of the Hessians of `ys` by each of `xs` with vectors.

    Args:
      ys: a scalar tensor, or a list of them.
      xs, v: lists of tensors of one length.

    Raises:
      ValueError: the lists differ in length.
    """
    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    products = [
        math_ops.multiply(grad, array_ops.stop_gradient(vector))
        for grad, vector in zip(gradients(ys, xs), v, strict=True)
        if grad is not None
    ]
    return gradients(products, xs)


def get_dependent_variables(input_ops: Any, output_ops: Any) -> list[Any]:
    """The variables that outputs depend on beside their inputs, differentiably."""
    stops = {tensor.op for tensor in map(convert_to_tensor, nest.flatten(input_ops))}
    found: dict[str, None] = {}
    waiting = [convert_to_tensor(tensor).op for tensor in nest.flatten(output_ops)]
    seen = set(waiting)
    while waiting:
        op = waiting.pop()
        if op in stops:
            continue
        if op.type in _VARIABLES:
            found[op.name] = None
        elif not _is_differentiable(op):
            continue
        for tensor in op.inputs:
            if tensor.op not in seen:
                seen.add(tensor.op)
                waiting.append(tensor.op)
    variables = {variable.op.name: variable for variable in global_variables()}
    return [variables[name] for name in found if name in variables]


def _is_differentiable(op: Any) -> bool:
    try:
        return get_gradient_function(op) is not None
    except LookupError:
        return False
