"""Max pooling whose windows are inputs, and its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.convolution.window_shapes import (
    spatial_axes,
    window_output_size,
    with_channels,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _max_pool_v2_shape(c: InferenceContext) -> TensorShape:
    return _pooled(c, 1, 2)


def _pooled(c: InferenceContext, ksize_input: int, strides_input: int) -> TensorShape:
    dims = c.with_rank(0, 4).dims_tuple
    assert dims is not None
    for index in (ksize_input, strides_input):
        c.with_rank(index, 1)
    ksize, strides = c.input_value(ksize_input), c.input_value(strides_input)
    if ksize is None or strides is None:
        return UNKNOWN
    for values, word in ((strides, "stride"), (ksize, "ksize")):
        if values.size != 4:
            c.fail(
                f"MaxPool requires the {word} attribute to contain 4 values, but got: "
                f"{values.size}"
            )
    data_format = c.attrs["data_format"]
    rows, columns, channels = spatial_axes(data_format)
    sizes = [
        window_output_size(
            c, dims[axis], int(ksize[axis]), int(strides[axis]), c.attrs["padding"]
        )
        for axis in (rows, columns, channels)
    ]
    return TensorShape.of(with_channels(data_format, dims[0], sizes[:2], sizes[2]))


def _input_shape(c: InferenceContext) -> TensorShape:
    return c.with_rank(0, 4)


def _grad_grad_shape(c: InferenceContext) -> TensorShape:
    output = _pooled(c, 3, 4)
    c.merge(c.input_shape(0), c.input_shape(2))
    return c.merge(output, c.input_shape(1))


def _argmax_shape(c: InferenceContext) -> TensorShape:
    c.merge(c.with_rank(0, 4), c.input_shape(1))
    return c.with_rank(2, 4)


def _attrs(op: Operation) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in ("padding", "data_format")}


def _max_pool_v2_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    ksize, strides = op.inputs[1], op.inputs[2]
    to_input = apply_op(
        "MaxPoolGradV2",
        orig_input=op.inputs[0],
        orig_output=op.outputs[0],
        grad=grad,
        ksize=ksize,
        strides=strides,
        **_attrs(op),
    )
    return [to_input, None, None]


def _max_pool_grad_v2_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    image, output, _, ksize, strides = op.inputs
    to_grad = apply_op(
        "MaxPoolGradGradV2",
        orig_input=image,
        orig_output=output,
        grad=grad,
        ksize=ksize,
        strides=strides,
        **_attrs(op),
    )
    return [
        array_ops.zeros(shape=array_ops.shape(image), dtype=image.dtype),
        array_ops.zeros(shape=array_ops.shape(output), dtype=output.dtype),
        to_grad,
        None,
        None,
    ]


_PADDING = "padding: {'SAME', 'VALID'}"
_LAYOUT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_NUMBERS = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
    "uint32, uint64}"
)

register_op(
    "MaxPoolV2",
    inputs=["input: T", "ksize: int32", "strides: int32"],
    outputs=["output: T"],
    attrs=[
        "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, "
        "qint8} = DT_FLOAT",
        _PADDING,
        "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
    ],
    shape_fn=_max_pool_v2_shape,
    gradient=_max_pool_v2_grad,
    doc="MaxPool with windows that are inputs.",
)

register_op(
    "MaxPoolGradV2",
    inputs=[
        "orig_input: T",
        "orig_output: T",
        "grad: T",
        "ksize: int32",
        "strides: int32",
    ],
    outputs=["output: T"],
    attrs=[_PADDING, _LAYOUT, f"{_NUMBERS} = DT_FLOAT"],
    shape_fn=_input_shape,
    gradient=_max_pool_grad_v2_grad,
    doc="The gradient of MaxPoolV2.",
)

register_op(
    "MaxPoolGradGradV2",
    inputs=[
        "orig_input: T",
        "orig_output: T",
        "grad: T",
        "ksize: int32",
        "strides: int32",
    ],
    outputs=["output: T"],
    attrs=[_PADDING, _LAYOUT, _NUMBERS],
    shape_fn=_grad_grad_shape,
    doc="The gradient of MaxPoolGradV2.",
)

register_op(
    "MaxPoolGradGradWithArgmax",
    inputs=["input: T", "grad: T", "argmax: Targmax"],
    outputs=["output: T"],
    attrs=[
        "ksize: list(int) >= 4",
        "strides: list(int) >= 4",
        _PADDING,
        "include_batch_in_index: bool = false",
        "Targmax: {int32, int64}",
        _NUMBERS,
    ],
    shape_fn=_argmax_shape,
    doc="The gradient of MaxPoolGradWithArgmax: what `grad` has at `argmax`.",
)
