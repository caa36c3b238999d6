"""Lists of tensors by index: reserving, getting, setting, gathering, scattering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import HandleData, InferenceContext
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN, TensorShape
from tensorloom.ops.lists.list_ops import element_shape_argument as to_argument
from tensorloom.ops.lists.list_shape_functions import (
    element_shape_argument,
    elements_of,
    list_op,
    new_list,
    shape_of_slices,
    without_leading,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


# --- shapes -------------------------------------------------------------------------


def _reserve_shape(c: InferenceContext) -> TensorShape:
    return new_list(c, c.input_value_as_shape(0))


def _get_item_shape(c: InferenceContext) -> TensorShape:
    return element_shape_argument(c, 2)


def _set_item_shape(c: InferenceContext) -> TensorShape:
    data = c.handle_data(0)
    # A list of another dtype is found when the op runs, as in TensorFlow.
    if data is None or data.dtype != c.attrs["element_dtype"]:
        return new_list(c, UNKNOWN)
    c.merge(c.input_shape(2), data.shape)
    return new_list(c, data.shape)


def _resize_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    data = c.handle_data(0)
    if data is not None:
        c.set_output_handle_data(0, HandleData(data.dtype, data.shape))
    return SCALAR


def _gather_shape(c: InferenceContext) -> TensorShape:
    element = element_shape_argument(c, 2)
    return c.input_shape(1).concatenate(element)


def _scatter_shape(c: InferenceContext) -> TensorShape:
    return new_list(c, c.input_value_as_shape(2))


def _scatter_into_shape(c: InferenceContext) -> TensorShape:
    known = elements_of(c)
    c.with_rank(2, 1)
    slices = without_leading(c.with_rank_at_least(1, 1))
    return new_list(c, slices if known is None else c.merge(known, slices))


# --- gradients ----------------------------------------------------------------------


def _length(handle: Tensor) -> Any:
    return list_op("TensorListLength", input_handle=handle)


def _element_shape(handle: Tensor) -> Any:
    return list_op(
        "TensorListElementShape", input_handle=handle, shape_type=dtypes.int32
    )


def _get_item_grad(op: Operation, grad: Tensor) -> list[Any]:
    handle, index, _ = op.inputs
    length = _length(handle)
    zeros = list_op(
        "TensorListReserve",
        grad.dtype.base_dtype,
        element_shape=_element_shape(handle),
        num_elements=length,
    )
    set_item = list_op("TensorListSetItem", input_handle=zeros, index=index, item=grad)
    return [set_item, None, None]


def _set_item_grad(op: Operation, grad: Tensor) -> list[Any]:
    from tensorloom.ops.array import fill as fill_ops
    from tensorloom.ops.array import shape as shape_ops

    _, index, item = op.inputs
    list_grad = list_op(
        "TensorListSetItem",
        input_handle=grad,
        index=index,
        item=fill_ops.zeros_like(item),
    )
    item_grad = tensor_list_get_item(
        grad, index, item.dtype, element_shape=shape_ops.shape(item)
    )
    return [list_grad, None, item_grad]


def _resize_grad(op: Operation, grad: Tensor) -> list[Any]:
    size = _length(op.inputs[0])
    return [list_op("TensorListResize", input_handle=grad, size=size), None]


def _gather_grad(op: Operation, grad: Tensor) -> list[Any]:
    handle, indices, _ = op.inputs
    element_shape = _element_shape(handle)
    zeros = tensor_list_reserve(element_shape, _length(handle), grad.dtype)
    scattered = list_op(
        "TensorListScatterIntoExistingList",
        input_handle=zeros,
        tensor=grad,
        indices=indices,
    )
    return [scattered, None, None]


def _gather_like(op: Operation, grad: Tensor, tensor: Tensor, indices: Any) -> Any:
    return list_op(
        "TensorListGather",
        tensor.dtype.base_dtype,
        input_handle=grad,
        indices=indices,
        element_shape=shape_of_slices(tensor),
    )


def _scatter_grad(op: Operation, grad: Tensor) -> list[Any]:
    gathered = _gather_like(op, grad, op.inputs[0], op.inputs[1])
    return [gathered] + [None] * (len(op.inputs) - 1)


def _scatter_into_grad(op: Operation, grad: Tensor) -> list[Any]:
    from tensorloom.ops.array import fill as fill_ops

    _, tensor, indices = op.inputs
    gathered = _gather_like(op, grad, tensor, indices)
    list_grad = list_op(
        "TensorListScatterIntoExistingList",
        input_handle=grad,
        tensor=fill_ops.zeros_like(tensor),
        indices=indices,
    )
    return [list_grad, gathered, None]


# --- registrations ------------------------------------------------------------------

_SHAPE_TYPES = ["element_dtype: type", "shape_type: {int32, int64}"]

register_op(
    "TensorListReserve",
    inputs=["element_shape: shape_type", "num_elements: int32"],
    outputs=["handle: variant"],
    attrs=_SHAPE_TYPES,
    shape_fn=_reserve_shape,
    doc="A list of num_elements elements that are not set yet: zeros when read.",
)
register_op(
    "TensorListGetItem",
    inputs=["input_handle: variant", "index: int32", "element_shape: int32"],
    outputs=["item: element_dtype"],
    attrs=["element_dtype: type"],
    shape_fn=_get_item_shape,
    gradient=_get_item_grad,
    doc="The element at an index.",
)
register_op(
    "TensorListSetItem",
    inputs=["input_handle: variant", "index: int32", "item: element_dtype"],
    outputs=["output_handle: variant"],
    attrs=["element_dtype: type"],
    shape_fn=_set_item_shape,
    gradient=_set_item_grad,
    doc="The list with the element at an index replaced.",
)
register_op(
    "TensorListResize",
    inputs=["input_handle: variant", "size: int32"],
    outputs=["output_handle: variant"],
    shape_fn=_resize_shape,
    gradient=_resize_grad,
    stateful=True,
    doc="The list cut to, or filled up with unset elements to, a length.",
)
register_op(
    "TensorListGather",
    inputs=["input_handle: variant", "indices: int32", "element_shape: int32"],
    outputs=["values: element_dtype"],
    attrs=["element_dtype: type"],
    shape_fn=_gather_shape,
    gradient=_gather_grad,
    doc="Stacks the elements at some indices along a new dimension 0.",
)
for _name, _more in (
    ("TensorListScatter", []),
    ("TensorListScatterV2", ["num_elements: int32"]),
):
    register_op(
        _name,
        inputs=[
            "tensor: element_dtype",
            "indices: int32",
            "element_shape: shape_type",
            *_more,
        ],
        outputs=["output_handle: variant"],
        attrs=_SHAPE_TYPES,
        shape_fn=_scatter_shape,
        gradient=_scatter_grad,
        doc="A list with the slices of a tensor along dimension 0 at some indices.",
    )
register_op(
    "TensorListScatterIntoExistingList",
    inputs=["input_handle: variant", "tensor: element_dtype", "indices: int32"],
    outputs=["output_handle: variant"],
    attrs=["element_dtype: type"],
    shape_fn=_scatter_into_shape,
    gradient=_scatter_into_grad,
    doc="The list with slices of a tensor put at some indices.",
)


# --- builders -----------------------------------------------------------------------


def tensor_list_reserve(
    element_shape: Any,
    num_elements: Any,
    element_dtype: Any,
    name: str | None = None,
) -> Tensor:
    """A list of `num_elements` unset elements."""
    handle: Tensor = list_op(
        "TensorListReserve",
        dtypes.as_dtype(element_dtype).base_dtype,
        element_shape=to_argument(element_shape),
        num_elements=num_elements,
        name=name,
    )
    return handle


def tensor_list_get_item(
    input_handle: Tensor,
    index: Any,
    element_dtype: Any,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """The element at `index`."""
    item: Tensor = list_op(
        "TensorListGetItem",
        dtypes.as_dtype(element_dtype).base_dtype,
        input_handle=input_handle,
        index=index,
        element_shape=to_argument(element_shape),
        name=name,
    )
    return item
