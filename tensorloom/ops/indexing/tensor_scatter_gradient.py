"""Gradients of ScatterNd and of the TensorScatter ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.indexing import gather as gather_ops
from tensorloom.ops.indexing.tensor_scatter import scatter_nd, tensor_scatter_update
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@RegisterGradient("ScatterNd")
def _scatter_nd_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [None, gather_ops.gather_nd(grad, op.inputs[0]), None]


@RegisterGradient("TensorScatterUpdate")
def _update_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    _, indices, updates = op.inputs
    updates_grad = gather_ops.gather_nd(grad, indices)
    tensor_grad = tensor_scatter_update(
        identity_ops.identity(grad),
        indices,
        fill_ops.zeros_like(updates, dtype=grad.dtype),
    )
    return [tensor_grad, None, updates_grad]


@RegisterGradient("TensorScatterAdd")
def _add_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    updates_grad = gather_ops.gather_nd(grad, op.inputs[1])
    return [identity_ops.identity(grad), None, updates_grad]


@RegisterGradient("TensorScatterSub")
def _sub_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    updates_grad = gather_ops.gather_nd(grad, op.inputs[1])
    return [identity_ops.identity(grad), None, -updates_grad]


@RegisterGradient("TensorScatterMin")
@RegisterGradient("TensorScatterMax")
def _extreme_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """Shared evenly by the elements that are equal to the extreme."""
    tensor, indices, updates = op.inputs
    result = op.outputs[0]
    from_tensor = math_ops.cast(math_ops.equal(tensor, result), grad.dtype)
    chosen = math_ops.equal(updates, gather_ops.gather_nd(result, indices))
    from_updates = math_ops.cast(chosen, grad.dtype)
    shape = shape_ops.shape(tensor, out_type=indices.dtype)
    count = from_tensor + scatter_nd(indices, from_updates, shape)
    updates_grad = gather_ops.gather_nd(grad / count, indices) * from_updates
    return [grad * from_tensor / count, None, updates_grad]


@RegisterGradient("ScatterNdNonAliasingAdd")
def _non_aliasing_add_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [grad, None, gather_ops.gather_nd(grad, op.inputs[1])]
