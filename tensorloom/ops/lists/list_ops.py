"""Lists of tensors as values: what a while loop's gradient keeps from each iteration.

A list is a variant value. Pushing and popping make new lists; the old ones stay as
they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import HandleData, InferenceContext
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dimension import Dimension
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


def _empty_list_shape(c: InferenceContext) -> TensorShape:
    element_shape = c.input_value_as_shape(0)
    c.set_output_handle_data(0, HandleData(c.attrs["element_dtype"], element_shape))
    return SCALAR


def _push_back_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 0)
    data = c.handle_data(0)
    element_shape = UNKNOWN
    if data is not None:
        _check_element_type(c, data)
        # Whether the tensor fits is found when the op runs, as in TensorFlow.
        element_shape = data.shape
    c.set_output_handle_data(0, HandleData(c.attrs["element_dtype"], element_shape))
    return SCALAR


def _pop_back_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    element_shape = c.input_value_as_shape(1)
    data = c.handle_data(0)
    if data is not None:
        _check_element_type(c, data)
        element_shape = c.merge(element_shape, data.shape)
        c.set_output_handle_data(0, data)
    return [SCALAR, element_shape]


def _check_element_type(c: InferenceContext, data: HandleData) -> None:
    dtype = c.attrs["element_dtype"]
    if data.dtype != dtype:
        c.fail(
            "Trying to use a list of elements with data type "
            f"{data.dtype.name} as one of {dtype.name}"
        )


def _length_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 0)
    return SCALAR


def _element_shape_shape(c: InferenceContext) -> TensorShape:
    data = c.handle_data(0)
    rank = None if data is None else data.declared_shape().rank
    # Of elements of any rank the list says the scalar -1.
    return UNKNOWN if rank is None else TensorShape.of((rank,))


def _push_back_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    from tensorloom.ops.array import shape as shape_ops

    return list(
        apply_op(
            "TensorListPopBack",
            input_handle=grad,
            element_shape=shape_ops.shape(op.inputs[1]),
            element_dtype=op.attrs["element_dtype"],
        )
    )


def _pop_back_grad(
    op: Operation, list_grad: Tensor | None, element_grad: Tensor | None
) -> list[Tensor | None]:
    if element_grad is None:  # the elements are of no trainable dtype
        return [None, None]
    if list_grad is None:
        list_grad = empty_tensor_list(
            element_shape=tensor_list_element_shape(op.outputs[0]),
            element_dtype=element_grad.dtype,
        )
    return [tensor_list_push_back(list_grad, element_grad), None]


register_op(
    "EmptyTensorList",
    inputs=["element_shape: shape_type", "max_num_elements: int32"],
    outputs=["handle: variant"],
    attrs=["element_dtype: type", "shape_type: {int32, int64}"],
    shape_fn=_empty_list_shape,
    doc=(
        "An empty list for elements of one dtype and (partially known) shape, at most "
        "max_num_elements of them, or any number when that is -1."
    ),
)

register_op(
    "TensorListPushBack",
    inputs=["input_handle: variant", "tensor: element_dtype"],
    outputs=["output_handle: variant"],
    attrs=["element_dtype: type"],
    shape_fn=_push_back_shape,
    gradient=_push_back_grad,
    doc="The list with the tensor added at its end.",
)

register_op(
    "TensorListPopBack",
    inputs=["input_handle: variant", "element_shape: int32"],
    outputs=["output_handle: variant", "tensor: element_dtype"],
    attrs=["element_dtype: type"],
    shape_fn=_pop_back_shape,
    gradient=_pop_back_grad,
    doc="The list without its last element, and that element.",
)

register_op(
    "TensorListLength",
    inputs=["input_handle: variant"],
    outputs=["length: int32"],
    shape_fn=_length_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The number of elements of the list.",
)

register_op(
    "TensorListElementShape",
    inputs=["input_handle: variant"],
    outputs=["element_shape: shape_type"],
    attrs=["shape_type: {int32, int64}"],
    shape_fn=_element_shape_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The shape that the elements have, -1 for what is not known.",
)


# --- builders -------------------------------------------------------------------------


def element_shape_argument(shape: Any) -> Any:
    """A shape as the `element_shape` input takes it: -1 for what is unknown.

    Args:
      shape: None, a tensor, a TensorShape, or a list of dimensions (None, a number, a
        Dimension or a scalar tensor each).
    """
    if isinstance(shape, TensorShape):
        shape = None if shape.rank is None else shape.as_list()
    if shape is None:
        return -1
    if isinstance(shape, list | tuple):
        # An empty list would become a float32.
        return [_dimension(d) for d in shape] or convert_to_tensor([], dtypes.int32)
    return shape


def _dimension(dimension: Any) -> Any:
    if isinstance(dimension, Dimension):
        dimension = dimension.value
    return -1 if dimension is None else dimension


def empty_tensor_list(
    element_shape: Any,
    element_dtype: Any,
    max_num_elements: Any = None,
    name: str | None = None,
) -> Tensor:
    """An empty list; `element_shape` is a TensorShape or a shape tensor."""
    handle: Tensor = apply_op(
        "EmptyTensorList",
        element_shape=element_shape_argument(element_shape),
        max_num_elements=-1 if max_num_elements is None else max_num_elements,
        element_dtype=element_dtype,
        name=name,
    )
    return handle


def tensor_list_push_back(
    input_handle: Tensor, tensor: Tensor, name: str | None = None
) -> Tensor:
    """The list with `tensor` added at its end."""
    handle: Tensor = apply_op(
        "TensorListPushBack", input_handle=input_handle, tensor=tensor, name=name
    )
    return handle


def tensor_list_pop_back(
    input_handle: Tensor, element_dtype: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(the list without its last element, that element)."""
    shorter, element = apply_op(
        "TensorListPopBack",
        input_handle=input_handle,
        element_shape=-1,
        element_dtype=element_dtype,
        name=name,
    )
    return shorter, element


def tensor_list_element_shape(
    input_handle: Tensor,
    shape_type: dtypes.DType = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The shape of the list's elements as a tensor."""
    shape: Tensor = apply_op(
        "TensorListElementShape",
        input_handle=input_handle,
        shape_type=shape_type,
        name=name,
    )
    return shape
