"""Static shapes of lists of tensors: what the ops of all list families share.

A list is a scalar; the shape and dtype of its elements travel as handle data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.shape_inference import HandleData
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.dtypes import DType


def new_list(c: InferenceContext, element_shape: TensorShape) -> TensorShape:
    """States the elements of output 0, a list; returns the shape of the list."""
    c.set_output_handle_data(0, HandleData(c.attrs["element_dtype"], element_shape))
    return SCALAR


def elements_of(c: InferenceContext, index: int = 0) -> TensorShape | None:
    """The element shape of the list at an input, None when nothing is known of it.

    Raises:
      ShapeError: the list has elements of another dtype than the op works on.
    """
    data = c.handle_data(index)
    if data is None:
        return None
    dtype = c.attrs["element_dtype"]
    if data.dtype != dtype:
        c.fail(
            "Trying to use a list of elements with data type "
            f"{data.dtype.name} as one of {dtype.name}"
        )
    return data.shape


def element_shape_argument(c: InferenceContext, index: int) -> TensorShape:
    """The element shape that an input says, merged with the list's own (input 0)."""
    shape = c.input_value_as_shape(index)
    known = elements_of(c)
    return shape if known is None else c.merge(shape, known)


def without_leading(shape: TensorShape) -> TensorShape:
    """The shape of the slices along dimension 0."""
    dims = shape.dims_tuple
    return UNKNOWN if dims is None else TensorShape.of(dims[1:])


def with_leading(size: int | None, shape: TensorShape) -> TensorShape:
    """`size` elements of this shape, stacked."""
    return TensorShape.of((size,)).concatenate(shape)


def shape_of_slices(tensor: Tensor) -> Tensor:
    """The shape of the slices along dimension 0, as a tensor."""
    from tensorloom.ops.array import shape as shape_ops
    from tensorloom.ops.indexing import slice as slice_ops

    sliced: Tensor = slice_ops.slice(shape_ops.shape(tensor), [1], [-1])
    return sliced


def list_op(op_type: str, dtype: DType | None = None, **arguments: Any) -> Any:
    """Adds an op of a list family, with its element dtype if that is not an input's."""
    from tensorloom.framework.registry.op_def_library import apply_op

    if dtype is not None:
        arguments["element_dtype"] = dtype
    return apply_op(op_type, **arguments)
