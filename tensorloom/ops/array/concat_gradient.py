"""The gradient of a concatenation: the pieces of the output's gradient.

The same nodes as TensorFlow's, for dense gradients and for IndexedSlices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.functions.classic_op_types import EXITS
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array import stack as stack_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.indexing import gather as gather_ops
from tensorloom.ops.indexing import selection as selection_ops
from tensorloom.ops.indexing import slice as slice_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation

# From this many inputs on, one SplitV is cheaper than many Slice nodes.
_MANY = 16


@RegisterGradient("ConcatV2")
def _concat_v2_grad(op: Operation, grad: Any) -> list[Any]:
    return [*_gradients(op.inputs[:-1], op.inputs[-1], grad), None]


@RegisterGradient("Concat")
def _concat_grad(op: Operation, grad: Any) -> list[Any]:
    return [None, *_gradients(op.inputs[1:], op.inputs[0], grad)]


def _gradients(parts: Sequence[Tensor], axis: Tensor, grad: Any) -> list[Any]:
    """The gradient of each of `parts`, which were joined along `axis`.

    Raises:
      ValueError: `grad` is sparse and the axis is not static.
      TypeError: `grad` is neither a Tensor nor IndexedSlices.
    """
    if len(parts) == 1:
        return [grad]
    if isinstance(grad, Tensor):
        return _dense(parts, _axis_beside(axis, grad), grad)
    if isinstance(grad, IndexedSlices):
        return _sparse(parts, axis, grad)
    raise TypeError(f"Expected Tensor or IndexedSlices, got {type(grad)}")


def _axis_beside(axis: Tensor, grad: Tensor) -> Tensor:
    """The axis; a constant of another branch or loop is made anew."""
    if axis.op.type != "Const" or _context(axis) is _context(grad):
        return axis
    return constant(constant_value(axis), dtype=axis.dtype)


def _context(tensor: Tensor) -> Any:
    context = tensor.op._control_flow_context
    if context is not None and tensor.op.type in EXITS:
        return context.outer_context
    return context


def _dense(parts: Sequence[Tensor], axis: Tensor, grad: Tensor) -> list[Tensor]:
    positive_axis = axis % shape_ops.rank(parts[0])
    sizes = _shapes(parts)
    if len(sizes) > _MANY:
        column = slice_ops.slice(
            stack_ops.stack(sizes, axis=1), [positive_axis, 0], [1, -1]
        )
        return concat_ops.split(grad, reshape_ops.squeeze(column), positive_axis)
    offsets = concat_ops.concat_offset(positive_axis, sizes)
    return [
        slice_ops.slice(grad, begin, size)
        for begin, size in zip(offsets, sizes, strict=True)
    ]


def _shapes(parts: Sequence[Tensor]) -> list[Tensor]:
    """Constants while the shapes are static, else one ShapeN for all."""
    sizes = []
    for part in parts:
        size = shape_ops.shape(part)
        if size.op.type != "Const":
            return shape_ops.shape_n(parts)
        sizes.append(size)
    return sizes


def _sparse(
    parts: Sequence[Tensor], axis: Tensor, grad: IndexedSlices
) -> list[IndexedSlices]:
    positive_axis = axis % shape_ops.rank(parts[0])
    static_axis = constant_value(axis)
    if static_axis is None:
        raise ValueError(
            "Can only compute IndexedSlices gradient with statically-known concat_dim"
        )
    if static_axis < 0:
        rank = constant_value(shape_ops.rank(parts[0]))
        if rank is None:
            raise ValueError(
                "Can only compute IndexedSlices gradient with negative concat_dim "
                "when first value rank is statically-known."
            )
        static_axis = static_axis % rank
    sizes = [shape_ops.shape(part) for part in parts]
    if static_axis > 0:
        return _sparse_columns(sizes, positive_axis, grad)
    return _sparse_rows(sizes, positive_axis, grad)


def _sparse_columns(
    sizes: list[Tensor], axis: Tensor, grad: IndexedSlices
) -> list[IndexedSlices]:
    """Joined along a later axis: every part has all rows, and its own columns."""
    rank = shape_ops.shape(sizes[0])
    mask = concat_ops.concat(
        [
            fill_ops.fill(reshape_ops.expand_dims(axis, 0), 0),
            [1],
            fill_ops.fill(rank - axis - 1, 0),
        ],
        0,
    )
    begin = fill_ops.fill(rank, 0)
    results = []
    for size in sizes:
        extent = concat_ops.concat([[-1], slice_ops.slice(size, [1], [-1])], 0)
        values = slice_ops.slice(grad.values, begin, extent)
        results.append(IndexedSlices(values, grad.indices, size))
        begin = apply_op("AddV2", x=begin, y=size * mask, name="add")
    return results


def _sparse_rows(
    sizes: list[Tensor], axis: Tensor, grad: IndexedSlices
) -> list[IndexedSlices]:
    """Joined along the first axis: every part has the rows within its range."""
    dtype = grad.indices.dtype
    start = constant(0, dtype=dtype)
    results = []
    for size in sizes:
        rows = gather_ops.gather(size, axis)
        if rows.dtype != dtype:
            rows = apply_op("Cast", x=rows, DstT=dtype)
        end = start + rows
        within = apply_op("LogicalAnd", x=grad.indices >= start, y=grad.indices < end)
        chosen = reshape_ops.squeeze(selection_ops.where(within), axis=[1])
        indices = gather_ops.gather(grad.indices, chosen) - start
        values = gather_ops.gather(grad.values, chosen)
        results.append(IndexedSlices(values, indices, size))
        start = end
    return results
