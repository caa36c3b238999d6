"""Gradients of the segment reductions, with the nodes that TensorFlow 1.15 makes."""

from __future__ import annotations

from tensorloom.framework.graph.graph import Operation, Tensor
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

_Grads = list[Tensor | None]

# --- sorted segments ---------------------------------------------------------


@RegisterGradient("SegmentSum")
def segment_sum_grad(op: Operation, grad: Tensor) -> _Grads:
    """Each row gets its segment's gradient."""
    return [array_ops.gather(grad, op.inputs[1]), None]


@RegisterGradient("SegmentMean")
def segment_mean_grad(op: Operation, grad: Tensor) -> _Grads:
    """Each row gets its segment's gradient over the segment's size."""
    rank = array_ops.rank(op.inputs[0])
    ones_shape = array_ops.concat(
        [
            array_ops.shape(op.inputs[1]),
            array_ops.fill(array_ops.expand_dims(rank - 1, 0), 1),
        ],
        0,
    )
    ones = array_ops.fill(ones_shape, array_ops.constant(1, dtype=grad.dtype))
    scaled = math_ops.divide(grad, math_ops.segment_sum(ones, op.inputs[1]))
    return [array_ops.gather(scaled, op.inputs[1]), None]


@RegisterGradient("SegmentMax")
@RegisterGradient("SegmentMin")
def segment_extreme_grad(op: Operation, grad: Tensor) -> _Grads:
    """The gradient is shared among the rows that hold the extreme."""
    data, ids = op.inputs
    zeros = array_ops.zeros_like(data, dtype=data.dtype)
    extremes = array_ops.gather(op.outputs[0], ids)
    chosen = math_ops.equal(data, extremes)
    counts = math_ops.segment_sum(math_ops.cast(chosen, grad.dtype), ids)
    shares = array_ops.gather(math_ops.divide(grad, counts), ids)
    return [array_ops.where(chosen, shares, zeros), None]


# --- unsorted segments -------------------------------------------------------


def _clip_negative(ids: Tensor) -> Tensor:
    return math_ops.maximum(ids, array_ops.zeros_like(ids))


def _is_kept(gathered: Tensor, ids: Tensor) -> Tensor:
    """Which elements of `gathered` belong to a segment, in the shape of `gathered`."""
    kept = math_ops.greater_equal(ids, 0)
    for _ in range(gathered.shape.ndims - kept.shape.ndims):  # type: ignore[operator]
        kept = array_ops.expand_dims(kept, -1)
    return kept & array_ops.ones_like(gathered, dtype=dtypes.bool)


def _gather_kept(params: Tensor, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(rows of `params`, 0 where the id is negative; ids clipped at 0; which kept)."""
    clipped = _clip_negative(ids)
    gathered = array_ops.gather(params, clipped)
    kept = _is_kept(gathered, ids)
    zeros = array_ops.zeros_like(gathered)
    return array_ops.where(kept, gathered, zeros), clipped, kept


@RegisterGradient("UnsortedSegmentSum")
def unsorted_sum_grad(op: Operation, grad: Tensor) -> _Grads:
    """Each row gets its segment's gradient, 0 without a segment."""
    return [_gather_kept(grad, op.inputs[1])[0], None, None]


@RegisterGradient("UnsortedSegmentMax")
@RegisterGradient("UnsortedSegmentMin")
def unsorted_extreme_grad(op: Operation, grad: Tensor) -> _Grads:
    """The gradient is shared among the rows that hold the extreme."""
    data, ids, num_segments = op.inputs
    extremes, clipped, kept = _gather_kept(op.outputs[0], ids)
    chosen = math_ops.logical_and(math_ops.equal(data, extremes), kept)
    counts = math_ops.unsorted_segment_sum(
        math_ops.cast(chosen, grad.dtype), ids, num_segments
    )
    shares = array_ops.gather(math_ops.divide(grad, counts), clipped)
    shares = array_ops.where(kept, shares, array_ops.zeros_like(shares))
    zeros = array_ops.zeros_like(shares)
    return [array_ops.where(chosen, shares, zeros), None, None]


@RegisterGradient("UnsortedSegmentProd")
def unsorted_prod_grad(op: Operation, grad: Tensor) -> _Grads:
    """The gradient times the product of the other rows, zeros among them or not."""
    data, ids, num_segments = op.inputs
    is_zero = math_ops.equal(data, 0)
    zero_counts = math_ops.unsorted_segment_sum(
        math_ops.cast(is_zero, dtype=dtypes.int32), ids, num_segments
    )
    grad = array_ops.where(
        math_ops.greater(zero_counts, 1), array_ops.zeros_like(grad), grad
    )
    nonzero_data = array_ops.where(is_zero, array_ops.ones_like(data), data)
    nonzero_prod = math_ops.unsorted_segment_prod(nonzero_data, ids, num_segments)
    clipped = _clip_negative(ids)
    prod = array_ops.gather(op.outputs[0], clipped)
    prod_of_nonzero = array_ops.gather(nonzero_prod, clipped)
    # A single zero's partial derivative is the product of the others, which has none.
    partial = array_ops.where(is_zero, prod_of_nonzero, prod / data)
    gathered = array_ops.gather(grad, clipped)
    kept = _is_kept(gathered, ids)
    gathered = array_ops.where(kept, gathered, array_ops.zeros_like(gathered))
    return [gathered * partial, None, None]


# --- segments of gathered rows -----------------------------------------------


def _row_count(op: Operation) -> Tensor:
    return array_ops.shape(op.inputs[0])[0]


@RegisterGradient("SparseSegmentSum")
def sparse_sum_grad(op: Operation, grad: Tensor) -> _Grads:
    """The segments' gradients, added up by the rows that were taken."""
    rows = _row_count(op)
    gathered = array_ops.gather(grad, op.inputs[2])
    return [math_ops.unsorted_segment_sum(gathered, op.inputs[1], rows), None, None]


def _sparse_scaled_grad(op: Operation, grad: Tensor, gradient_op: str) -> _Grads:
    rows = _row_count(op)
    data_grad: Tensor = apply_op(
        gradient_op,
        grad=grad,
        indices=op.inputs[1],
        segment_ids=op.inputs[2],
        output_dim0=rows,
    )
    return [data_grad, None, None]


@RegisterGradient("SparseSegmentMean")
def sparse_mean_grad(op: Operation, grad: Tensor) -> _Grads:
    """As for the sum, over the segments' sizes."""
    return _sparse_scaled_grad(op, grad, "SparseSegmentMeanGrad")


@RegisterGradient("SparseSegmentSqrtN")
def sparse_sqrt_n_grad(op: Operation, grad: Tensor) -> _Grads:
    """As for the sum, over the roots of the segments' sizes."""
    return _sparse_scaled_grad(op, grad, "SparseSegmentSqrtNGrad")


@RegisterGradient("SparseSegmentSumWithNumSegments")
def sparse_sum_counted_grad(op: Operation, grad: Tensor) -> _Grads:
    """`sparse_sum_grad` with a fourth input."""
    return [*sparse_sum_grad(op, grad), None]


@RegisterGradient("SparseSegmentMeanWithNumSegments")
def sparse_mean_counted_grad(op: Operation, grad: Tensor) -> _Grads:
    """`sparse_mean_grad` with a fourth input."""
    return [*sparse_mean_grad(op, grad), None]


@RegisterGradient("SparseSegmentSqrtNWithNumSegments")
def sparse_sqrt_n_counted_grad(op: Operation, grad: Tensor) -> _Grads:
    """`sparse_sqrt_n_grad` with a fourth input."""
    return [*sparse_sqrt_n_grad(op, grad), None]
