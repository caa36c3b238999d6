"""Gradients of the elementwise ops of a sparse and a dense tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


def _dense_elements(op: Operation) -> tuple[Tensor, Tensor]:
    """(the dense element that meets each stored one, its place in the dense tensor)."""
    indices, _, shape, dense = op.inputs
    dense_shape = math_ops.cast(array_ops.shape(dense), dtypes.int64)
    missing = array_ops.expand_dims(
        array_ops.size(shape) - array_ops.size(dense_shape), 0
    )
    full_shape = array_ops.concat(
        [array_ops.ones(missing, dtypes.int64), dense_shape], 0
    )
    # An axis along which the dense tensor is repeated has one place for all.
    places = indices // (shape // full_shape)
    start = array_ops.concat([[0], missing], 0)
    places = array_ops.slice(places, start, [-1, -1])
    return array_ops.gather_nd(dense, places), places


def _dense_grad(op: Operation, places: Tensor, grad: Tensor) -> Tensor:
    """Gradients of the stored elements, added up at their dense places."""
    shape = math_ops.cast(array_ops.shape(op.inputs[3]), dtypes.int64)
    total: Tensor = apply_op("ScatterNd", indices=places, updates=grad, shape=shape)
    return total


@RegisterGradient("SparseDenseCwiseMul")
def _mul_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    dense, places = _dense_elements(op)
    values_grad = grad * dense
    return [None, values_grad, None, _dense_grad(op, places, grad * op.inputs[1])]


@RegisterGradient("SparseDenseCwiseDiv")
def _div_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    dense, places = _dense_elements(op)
    values_grad = grad / dense
    slope = -op.inputs[1] / math_ops.square(dense)
    return [None, values_grad, None, _dense_grad(op, places, grad * slope)]


@RegisterGradient("SparseDenseCwiseAdd")
def _add_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    # As TensorFlow says it: programs look for this class.
    raise NotImplementedError(
        "Gradient for SparseDenseCwiseAdd is currently not implemented yet."
    )
