"""Gradients of the reductions, with the nodes that TensorFlow 1.15 makes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    colocate_with,
    device,
    get_default_graph,
)
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.broadcast_gradient import known_integers
from tensorloom.ops.reductions.reduced_shape import reduced_shape

_Grads = list[Tensor | None]


@RegisterGradient("ArgMax")
@RegisterGradient("ArgMin")
def no_grads(op: Operation, grad: Tensor) -> list[None]:
    """Positions do not change smoothly."""
    return [None, None]


def _safe_shape_div(x: Any, y: Any) -> Any:
    """x // y, and 0 for 0 / 0."""
    return x // math_ops.maximum(y, 1)


@RegisterGradient("Sum")
def sum_grad(op: Operation, grad: Tensor) -> _Grads:
    """dy repeated along the axes."""
    dims = op.inputs[0].shape.dims_tuple
    axes = None if dims is None else constant_value(op.inputs[1])
    if dims is not None and axes is not None:
        if np.array_equal(axes, np.arange(len(dims))):
            return [_repeat_scalar(op.inputs[0], dims, grad), None]
        if None not in dims:
            kept, repeats = _static_repeats(dims, tuple(axes.reshape(-1)))
            grad = array_ops.reshape(grad, kept)
            return [array_ops.tile(grad, repeats), None]
    input_shape = array_ops.shape(op.inputs[0])
    with colocate_with(input_shape):
        kept = reduced_shape(input_shape, op.inputs[1])
        repeats = _safe_shape_div(input_shape, kept)
    grad = array_ops.reshape(grad, kept)
    return [array_ops.tile(grad, repeats), None]


def _repeat_scalar(x: Tensor, dims: tuple[int | None, ...], grad: Tensor) -> Tensor:
    """Where every axis was summed, the gradient is one value everywhere."""
    grad = array_ops.reshape(grad, [1] * len(dims))
    if None in dims:
        return array_ops.tile(grad, array_ops.shape(x))
    return array_ops.tile(grad, array_ops.constant(dims, dtype=dtypes.int32))


def _static_repeats(dims: Any, axes: tuple[Any, ...]) -> tuple[Any, Any]:
    """(shape with the axes kept as 1, repeats), told once for each graph."""
    cache = get_default_graph()._sum_repeats
    known = cache.get((dims, axes))
    if known is None:
        # The nodes stay in the graph, unused, as TensorFlow leaves them there.
        kept = known_integers(reduced_shape(dims, axes))
        known = cache[dims, axes] = kept, known_integers(_safe_shape_div(dims, kept))
    return known


@RegisterGradient("Mean")
def mean_grad(op: Operation, grad: Tensor) -> _Grads:
    """dy repeated along the axes, over the number of repeats."""
    repeated = sum_grad(op, grad)[0]
    assert repeated is not None
    dims, out_dims = op.inputs[0].shape.dims_tuple, op.outputs[0].shape.dims_tuple
    if dims is None or out_dims is None or None in dims or None in out_dims:
        input_shape = array_ops.shape(op.inputs[0])
        output_shape = array_ops.shape(op.outputs[0])
        factor = _safe_shape_div(
            math_ops.reduce_prod(input_shape), math_ops.reduce_prod(output_shape)
        )
    else:
        count = math.prod(dims) // max(math.prod(out_dims), 1)  # type: ignore[arg-type]
        factor = array_ops.constant(count, dtype=repeated.dtype)
    factor = math_ops.cast(factor, repeated.dtype)
    return [math_ops.truediv(repeated, factor), None]


@RegisterGradient("Max")
@RegisterGradient("Min")
def extreme_grad(op: Operation, grad: Tensor) -> _Grads:
    """dy shared equally among the elements that are the extreme one."""
    input_shape = array_ops.shape(op.inputs[0])
    kept = reduced_shape(input_shape, op.inputs[1])
    y = array_ops.reshape(op.outputs[0], kept)
    grad = array_ops.reshape(grad, kept)
    chosen = math_ops.cast(math_ops.equal(y, op.inputs[0]), grad.dtype)
    count = array_ops.reshape(math_ops.reduce_sum(chosen, op.inputs[1]), kept)
    return [math_ops.divide(chosen, count) * grad, None]


@RegisterGradient("Prod")
def prod_grad(op: Operation, grad: Tensor) -> _Grads:
    """dy times the product of the other elements, zeros among them or not.

    The product without one element is that of those before and of those after it:
    two exclusive scans over the reduced axes, which are brought to the front.
    """
    x = op.inputs[0]
    input_shape = array_ops.shape(x)
    axes = array_ops.reshape(op.inputs[1], [-1])
    kept = reduced_shape(input_shape, op.inputs[1])
    repeats = _safe_shape_div(input_shape, kept)
    grad = array_ops.tile(array_ops.reshape(grad, kept), repeats)
    with device("/cpu:0"):
        rank = array_ops.rank(x)
        axes = (axes + rank) % rank
        reduced = math_ops.cast(axes, dtypes.int32)
        every = math_ops.range(0, rank)
        other, _ = array_ops.setdiff1d(every, reduced)
        perm = array_ops.concat([reduced, other], 0)
        rows = math_ops.reduce_prod(array_ops.gather(input_shape, reduced))
        columns = math_ops.reduce_prod(array_ops.gather(input_shape, other))
    permuted = array_ops.transpose(x, perm)
    permuted_shape = array_ops.shape(permuted)
    matrix = array_ops.reshape(permuted, (rows, columns))
    before = math_ops.cumprod(matrix, axis=0, exclusive=True)
    after = math_ops.cumprod(matrix, axis=0, exclusive=True, reverse=True)
    others = array_ops.reshape(
        math_ops.conj(before) * math_ops.conj(after), permuted_shape
    )
    out = grad * array_ops.transpose(others, array_ops.invert_permutation(perm))
    return [array_ops.reshape(out, input_shape), None]
