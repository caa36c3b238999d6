"""Lists of tensors from whole tensors and back: stacking, splitting, joining."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.lists import list_ops
from tensorloom.ops.lists.list_shape_functions import (
    element_shape_argument,
    elements_of,
    list_op,
    new_list,
    shape_of_slices,
    with_leading,
    without_leading,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


# --- shapes -------------------------------------------------------------------------


def _from_tensor_shape(c: InferenceContext) -> TensorShape:
    declared = c.input_value_as_shape(1)
    c.merge(without_leading(c.with_rank_at_least(0, 1)), declared)
    return new_list(c, declared)


def _stack_shape(c: InferenceContext) -> TensorShape:
    count: int = c.attrs["num_elements"]
    return with_leading(None if count < 0 else count, element_shape_argument(c, 1))


def _concat_shape(c: InferenceContext) -> list[TensorShape]:
    lengths = TensorShape.of((None,))
    shape: TensorShape = c.attrs["element_shape"]
    known = elements_of(c)
    if known is not None:
        shape = c.merge(shape, known)
    if shape.dims_tuple is None:
        return [UNKNOWN, lengths]
    rest = without_leading(c.with_rank_at_least(shape, 1))
    return [with_leading(None, rest), lengths]


def _concat_v2_shape(c: InferenceContext) -> list[TensorShape]:
    lengths = TensorShape.of((None,))
    shape = element_shape_argument(c, 1)
    if shape.dims_tuple is None:
        return [UNKNOWN, lengths]
    rest = without_leading(c.with_rank_at_least(shape, 1))
    return [with_leading(None, rest), lengths]


def _split_shape(c: InferenceContext) -> TensorShape:
    pieces = without_leading(c.with_rank_at_least(0, 1))
    c.with_rank(2, 1)
    element = c.input_value_as_shape(1)
    if element.dims_tuple is not None:
        c.merge(pieces, without_leading(c.with_rank_at_least(element, 1)))
    return new_list(c, element)


def _concat_lists_shape(c: InferenceContext) -> TensorShape:
    shapes = [elements_of(c, 0), elements_of(c, 1)]
    known = [s for s in shapes if s is not None]
    if len(known) == 2:
        c.merge(*known)
    if known:
        new_list(c, known[0])
    return c.merge(c.input_shape(0), c.input_shape(1))


def _push_back_batch_shape(c: InferenceContext) -> TensorShape:
    handles = c.with_rank(0, 1)
    tensor = c.with_rank_at_least(1, 1)
    new_list(c, without_leading(tensor))
    dims = tensor.dims_tuple
    return handles if dims is None else c.merge(handles, TensorShape.of(dims[:1]))


# --- gradients ----------------------------------------------------------------------


def _stack_grad(op: Operation, grad: Tensor) -> list[Any]:
    shape = without_leading(grad.shape)
    return [tensor_list_from_tensor(grad, shape), None]


def _from_tensor_grad(op: Operation, grad: Tensor | None) -> list[Any]:
    tensor = op.inputs[0]
    dims = tensor.shape.dims_tuple
    count = dims[0] if dims else None
    if grad is None:
        grad = list_ops.empty_tensor_list(
            list_ops.tensor_list_element_shape(op.outputs[0]), tensor.dtype
        )
    stacked = list_op(
        "TensorListStack",
        tensor.dtype.base_dtype,
        input_handle=grad,
        element_shape=shape_of_slices(tensor),
        num_elements=-1 if count is None else count,
    )
    return [stacked, None]


def _concat_grad(op: Operation, grad: Tensor, unused_lengths_grad: Any) -> list[Any]:
    pieces = list_op(
        "TensorListSplit",
        tensor=grad,
        element_shape=list_ops.tensor_list_element_shape(op.inputs[0]),
        lengths=op.outputs[1],
    )
    return [pieces] + [None] * (len(op.inputs) - 1)


def _split_grad(op: Operation, grad: Tensor) -> list[Any]:
    from tensorloom.ops.array import concat as concat_ops

    tensor, _, lengths = op.inputs
    element_shape = concat_ops.concat([[-1], shape_of_slices(tensor)], axis=0)
    joined = list_op(
        "TensorListConcatV2",
        tensor.dtype.base_dtype,
        input_handle=grad,
        element_shape=element_shape,
        leading_dims=lengths,
    )
    return [joined[0], None, None]


# --- registrations ------------------------------------------------------------------

_SHAPE_TYPES = ["element_dtype: type", "shape_type: {int32, int64}"]

register_op(
    "TensorListFromTensor",
    inputs=["tensor: element_dtype", "element_shape: shape_type"],
    outputs=["output_handle: variant"],
    attrs=_SHAPE_TYPES,
    shape_fn=_from_tensor_shape,
    gradient=_from_tensor_grad,
    doc="The list of the slices of a tensor along dimension 0.",
)
register_op(
    "TensorListStack",
    inputs=["input_handle: variant", "element_shape: int32"],
    outputs=["tensor: element_dtype"],
    attrs=["element_dtype: type", "num_elements: int = -1"],
    shape_fn=_stack_shape,
    gradient=_stack_grad,
    doc="Stacks all elements along a new dimension 0.",
)
register_op(
    "TensorListConcat",
    inputs=["input_handle: variant"],
    outputs=["tensor: element_dtype", "lengths: int64"],
    attrs=["element_dtype: type", "element_shape: shape = unknown"],
    shape_fn=_concat_shape,
    gradient=_concat_grad,
    doc="Concatenates all elements along their dimension 0; also gives their lengths.",
)
register_op(
    "TensorListConcatV2",
    inputs=[
        "input_handle: variant",
        "element_shape: shape_type",
        "leading_dims: int64",
    ],
    outputs=["tensor: element_dtype", "lengths: int64"],
    attrs=_SHAPE_TYPES,
    shape_fn=_concat_v2_shape,
    gradient=_concat_grad,
    doc=(
        "As TensorListConcat; leading_dims are the dimensions 0 of elements that are "
        "not set."
    ),
)
register_op(
    "TensorListSplit",
    inputs=["tensor: element_dtype", "element_shape: shape_type", "lengths: int64"],
    outputs=["output_handle: variant"],
    attrs=_SHAPE_TYPES,
    shape_fn=_split_shape,
    gradient=_split_grad,
    doc="The list of pieces of a tensor along dimension 0, of these lengths.",
)
register_op(
    "TensorListConcatLists",
    inputs=["input_a: variant", "input_b: variant"],
    outputs=["output: variant"],
    attrs=["element_dtype: type"],
    shape_fn=_concat_lists_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The elements of one list followed by those of another; elementwise.",
)
register_op(
    "TensorListPushBackBatch",
    inputs=["input_handles: variant", "tensor: element_dtype"],
    outputs=["output_handles: variant"],
    attrs=["element_dtype: type"],
    shape_fn=_push_back_batch_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Pushes one slice of a tensor to each list of a vector of lists.",
)


# --- builders -----------------------------------------------------------------------


def tensor_list_from_tensor(
    tensor: Any, element_shape: Any, name: str | None = None
) -> Tensor:
    """The list of the slices of `tensor`."""
    handle: Tensor = list_op(
        "TensorListFromTensor",
        tensor=tensor,
        element_shape=list_ops.element_shape_argument(element_shape),
        name=name,
    )
    return handle
