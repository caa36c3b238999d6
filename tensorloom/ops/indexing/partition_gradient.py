"""Gradients of DynamicPartition and DynamicStitch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.indexing import gather as gather_ops
from tensorloom.ops.indexing.partition import dynamic_partition, dynamic_stitch
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@RegisterGradient("DynamicPartition")
def _partition_grad(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    data, partitions = op.inputs
    prefix = shape_ops.shape(partitions)
    numbers = math_ops.range(math_ops.reduce_prod(prefix))
    positions = reshape_ops.reshape(numbers, prefix)
    parts = dynamic_partition(positions, partitions, op.get_attr("num_partitions"))
    whole = dynamic_stitch(parts, grads)
    return [reshape_ops.reshape(whole, shape_ops.shape(data)), None]


@RegisterGradient("DynamicStitch")
@RegisterGradient("ParallelDynamicStitch")
def _stitch_grad(op: Operation, grad: Any) -> list[Tensor | None]:
    count = len(op.inputs) // 2
    indices = [
        x if x.dtype == dtypes.int32 else math_ops.cast(x, dtypes.int32)
        for x in op.inputs[:count]
    ]
    if isinstance(grad, IndexedSlices):
        rows = shape_ops.shape(op.outputs[0])[0]
        grad = math_ops.unsorted_segment_sum(grad.values, grad.indices, rows)
    parts = [gather_ops.gather(grad, x) for x in indices]
    return [None] * count + parts
