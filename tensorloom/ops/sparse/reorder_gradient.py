"""The gradient of SparseReorder: the gradient's values in the order of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse.sparse_builders import sparse_reorder

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@RegisterGradient("SparseReorder")
def _reorder_grad(op: Operation, _: Tensor, grad: Tensor) -> list[Tensor | None]:
    indices, shape = op.inputs[0], op.inputs[2]
    count = array_ops.shape(indices)[0]
    numbered = SparseTensor(indices, math_ops.range(count), shape)
    inverse = array_ops.invert_permutation(sparse_reorder(numbered).values)
    return [None, array_ops.gather(grad, inverse), None]
