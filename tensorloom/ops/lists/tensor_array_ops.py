"""Tensor arrays (V3): arrays of tensors within one step, written once an index.

The flow scalar threads the order of reads and writes through the graph; it carries no
value. `tf.TensorArray` is in `ops/lists/tensor_array.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import HandleData, no_outputs
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

# TensorFlow keeps the shape of the string handles of old.
_HANDLE = TensorShape.of((2,))

# --- shape functions -----------------------------------------------------------


def _create_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    known = c.attrs["element_shape"].is_fully_defined()
    if known or c.attrs["identical_element_shapes"]:
        data = HandleData(c.attrs["dtype"], c.attrs["element_shape"])
        c.set_output_handle_data(0, data)
    return [_HANDLE, SCALAR]


def _grad_shape(c: InferenceContext) -> list[TensorShape]:
    data = c.handle_data(0)
    if data is not None and c.op_name == "TensorArrayGradV3":
        c.set_output_handle_data(0, data)
    elif data is not None:
        # As in TensorFlow, the sizes that are prepended stay unknown.
        dims = c.with_rank(2, 1).dims_tuple
        count = None if dims is None else dims[0]
        if count is not None:
            more = TensorShape.of((None,) * count)
            shape = more.concatenate(data.shape)
            c.set_output_handle_data(0, HandleData(data.dtype, shape))
    return [_HANDLE, SCALAR]


def _same_array(c: InferenceContext) -> list[TensorShape]:
    data = c.handle_data(0)
    if data is not None:
        c.set_output_handle_data(0, data)
    return [_HANDLE]


def _write_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    c.with_rank(3, 0)
    data = c.handle_data(0)
    if data is not None:
        c.merge(data.shape, c.input_shape(2))
    return SCALAR


def _size_shape(c: InferenceContext) -> TensorShape:
    return SCALAR


def _split_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(2, 1)
    c.with_rank(3, 0)
    return SCALAR


def _scatter_shape(c: InferenceContext) -> TensorShape:
    indices, value = c.with_rank(1, 1), c.with_rank_at_least(2, 1)
    c.with_rank(3, 0)
    dims = value.dims_tuple
    if dims is None:
        return SCALAR
    c.merge(indices, TensorShape.of(dims[:1]))
    data = c.handle_data(0)
    if data is not None:
        c.merge(data.shape, TensorShape.of(dims[1:]))
    return SCALAR


def _read_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    c.with_rank(2, 0)
    data = c.handle_data(0)
    return UNKNOWN if data is None else data.shape


def _gather_shape(c: InferenceContext) -> TensorShape:
    indices = c.with_rank(1, 1)
    c.with_rank(2, 0)
    data = c.handle_data(0)
    element: TensorShape = c.attrs["element_shape"]
    if data is not None:
        element = data.shape
    return indices.concatenate(element)


def _concat_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(1, 0)
    return [UNKNOWN, TensorShape.of((None,))]


# --- registrations ---------------------------------------------------------------

register_op(
    "TensorArrayV3",
    inputs=["size: int32"],
    outputs=["handle: resource", "flow: float"],
    attrs=[
        "dtype: type",
        "element_shape: shape = unknown",
        "dynamic_size: bool = false",
        "clear_after_read: bool = true",
        "identical_element_shapes: bool = false",
        "tensor_array_name: string = ''",
    ],
    shape_fn=_create_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="A new array of tensors.",
)
register_op(
    "_TensorArrayInIteration",
    inputs=["handle: resource"],
    outputs=["output: resource"],
    shape_fn=_same_array,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="The same array, with gradients of its own.",
)
register_op(
    "TensorArrayGradV3",
    inputs=["handle: resource", "flow_in: float"],
    outputs=["grad_handle: resource", "flow_out: float"],
    attrs=["source: string"],
    shape_fn=_grad_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="The array of the gradients of an array; writes to one index add up.",
)
register_op(
    "TensorArrayGradWithShape",
    inputs=["handle: resource", "flow_in: float", "shape_to_prepend: int32"],
    outputs=["grad_handle: resource", "flow_out: float"],
    attrs=["source: string"],
    shape_fn=_grad_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="As TensorArrayGradV3, for elements with dimensions prepended.",
)
register_op(
    "TensorArrayWriteV3",
    inputs=["handle: resource", "index: int32", "value: T", "flow_in: float"],
    outputs=["flow_out: float"],
    attrs=["T: type"],
    shape_fn=_write_shape,
    stateful=True,
    doc="Writes an element.",
)
register_op(
    "TensorArrayReadV3",
    inputs=["handle: resource", "index: int32", "flow_in: float"],
    outputs=["value: dtype"],
    attrs=["dtype: type"],
    shape_fn=_read_shape,
    stateful=True,
    doc="Reads an element.",
)
register_op(
    "TensorArrayGatherV3",
    inputs=["handle: resource", "indices: int32", "flow_in: float"],
    outputs=["value: dtype"],
    attrs=["dtype: type", "element_shape: shape = unknown"],
    shape_fn=_gather_shape,
    stateful=True,
    doc="Stacks the elements at some indices along a new dimension 0.",
)
register_op(
    "TensorArrayScatterV3",
    inputs=["handle: resource", "indices: int32", "value: T", "flow_in: float"],
    outputs=["flow_out: float"],
    attrs=["T: type"],
    shape_fn=_scatter_shape,
    stateful=True,
    doc="Writes the slices of a tensor along dimension 0 to some indices.",
)
register_op(
    "TensorArrayConcatV3",
    inputs=["handle: resource", "flow_in: float"],
    outputs=["value: dtype", "lengths: int64"],
    attrs=["dtype: type", "element_shape_except0: shape = unknown"],
    shape_fn=_concat_shape,
    stateful=True,
    doc="Concatenates all elements along their dimension 0.",
)
register_op(
    "TensorArraySplitV3",
    inputs=["handle: resource", "value: T", "lengths: int64", "flow_in: float"],
    outputs=["flow_out: float"],
    attrs=["T: type"],
    shape_fn=_split_shape,
    stateful=True,
    doc="Splits a tensor along dimension 0 into the elements.",
)
register_op(
    "TensorArraySizeV3",
    inputs=["handle: resource", "flow_in: float"],
    outputs=["size: int32"],
    shape_fn=_size_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="The number of elements.",
)
register_op(
    "TensorArrayCloseV3",
    inputs=["handle: resource"],
    shape_fn=no_outputs,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Deletes the array.",
)


def tensor_array_op(kind: str, **arguments: Any) -> Any:
    """The op `TensorArray<kind>V3` with these arguments."""
    return apply_op(f"TensorArray{kind}V3", **arguments)
