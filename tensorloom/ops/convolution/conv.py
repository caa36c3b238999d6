"""Convolution ops: signatures, shapes and gradients. Builders are in `builders.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.convolution.window_shapes import (
    explicit_paddings,
    spatial_axes,
    window_output_size,
    with_channels,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def _conv2d_shape(c: InferenceContext) -> TensorShape:
    data_format = c.attrs["data_format"]
    dims, filter_dims = c.with_rank(0, 4).dims_tuple, c.with_rank(1, 4).dims_tuple
    assert dims is not None
    assert filter_dims is not None
    _check_lengths(c, "Conv2D", data_format)
    _check_depths(c, dims[spatial_axes(data_format)[2]], filter_dims)
    spatial = _conv_spatial(c, dims, filter_dims, explicit_paddings(c))
    return TensorShape.of(with_channels(data_format, dims[0], spatial, filter_dims[3]))


def _check_lengths(c: InferenceContext, op: str, data_format: bytes) -> None:
    dilations, strides = c.attrs["dilations"], c.attrs["strides"]
    if len(dilations) != 4:
        c.fail(
            f"{op} requires the dilation attribute to contain 4 values, but got: "
            f"{len(dilations)}"
        )
    if len(strides) != 4:
        c.fail(
            f"{op} on data format {data_format.decode()} requires the stride "
            f"attribute to contain 4 values, but got: {len(strides)}"
        )


def _check_depths(
    c: InferenceContext, depth: int | None, filter_dims: tuple[int | None, ...]
) -> None:
    """Channels must be a multiple of the filter's (more than one: groups)."""
    filter_depth, output_depth = filter_dims[2], filter_dims[3]
    if depth is None or filter_depth is None:
        return
    if filter_depth == 0 or depth % filter_depth:
        c.fail(
            f"Depth of input ({depth}) is not a multiple of input depth of filter "
            f"({filter_depth})"
        )
    groups = depth // filter_depth
    if output_depth is not None and groups > 1 and output_depth % groups:
        c.fail(
            f"Depth of output ({output_depth}) is not a multiple of the number of "
            f"groups ({groups})"
        )


def _conv_spatial(
    c: InferenceContext,
    dims: tuple[int | None, ...],
    filter_dims: tuple[int | None, ...],
    paddings: list[int],
) -> list[int | None]:
    """Output height and width."""
    strides, dilations = c.attrs["strides"], c.attrs["dilations"]
    rows, columns, _ = spatial_axes(c.attrs["data_format"])
    return [
        window_output_size(
            c,
            dims[axis],
            window,
            strides[axis],
            c.attrs["padding"],
            dilation=dilations[axis],
            pad_before=paddings[2 * axis],
            pad_after=paddings[2 * axis + 1],
        )
        for axis, window in zip((rows, columns), filter_dims[:2], strict=True)
    ]


def _depthwise_shape(c: InferenceContext) -> TensorShape:
    data_format = c.attrs["data_format"]
    dims, filter_dims = c.with_rank(0, 4).dims_tuple, c.with_rank(1, 4).dims_tuple
    assert dims is not None
    assert filter_dims is not None
    strides = c.attrs["strides"]
    if len(strides) != 4:
        c.fail(
            "DepthwiseConv2D requires the stride attribute to contain 4 values, but "
            f"got: {len(strides)}"
        )
    dilations = c.attrs["dilations"]
    if len(dilations) != 4:
        c.fail(
            "DepthwiseConv2D requires the dilation attribute to contain 4 values, but "
            f"got: {len(dilations)}"
        )
    depth = c.merge_dim(dims[spatial_axes(data_format)[2]], filter_dims[2])
    multiplier = filter_dims[3]
    output_depth = None
    if depth is not None and multiplier is not None:
        output_depth = depth * multiplier
    spatial = _conv_spatial(c, dims, filter_dims, explicit_paddings(c))
    return TensorShape.of(with_channels(data_format, dims[0], spatial, output_depth))


def _shape_in_first_input(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 1)
    return c.with_rank(c.input_value_as_shape(0), 4)


def _shape_in_second_input(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 1)
    return c.with_rank(c.input_value_as_shape(1), 4)


# --- gradients ---------------------------------------------------------------

_CONV_ATTRS = (
    "strides",
    "padding",
    "explicit_paddings",
    "use_cudnn_on_gpu",
    "data_format",
    "dilations",
)


def _window_attrs(op: Operation) -> dict[str, Any]:
    attrs = op.attrs
    return {name: attrs[name] for name in _CONV_ATTRS if name in attrs}


def _conv2d_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    image, filters = op.inputs
    attrs = _window_attrs(op)
    image_shape, filter_shape = array_ops.shape_n([image, filters])
    return [
        apply_op(
            "Conv2DBackpropInput",
            input_sizes=image_shape,
            filter=filters,
            out_backprop=grad,
            **attrs,
        ),
        apply_op(
            "Conv2DBackpropFilter",
            input=image,
            filter_sizes=filter_shape,
            out_backprop=grad,
            **attrs,
        ),
    ]


def _depthwise_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    image, filters = op.inputs
    attrs = _window_attrs(op)
    return [
        apply_op(
            "DepthwiseConv2dNativeBackpropInput",
            input_sizes=array_ops.shape(image),
            filter=filters,
            out_backprop=grad,
            **attrs,
        ),
        apply_op(
            "DepthwiseConv2dNativeBackpropFilter",
            input=image,
            filter_sizes=array_ops.shape(filters),
            out_backprop=grad,
            **attrs,
        ),
    ]


def _backprop_input_grad(forward: str) -> Any:
    """The gradient of the op that computes the input's gradient of `forward`."""

    def gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
        attrs = _window_attrs(op)
        return [
            None,
            apply_op(
                f"{forward}BackpropFilter",
                input=grad,
                filter_sizes=array_ops.shape(op.inputs[1]),
                out_backprop=op.inputs[2],
                **attrs,
            ),
            apply_op(forward, input=grad, filter=op.inputs[1], **attrs),
        ]

    return gradient


def _backprop_filter_grad(forward: str) -> Any:
    """The gradient of the op that computes the filter's gradient of `forward`."""

    def gradient(op: Operation, grad: Tensor) -> list[Tensor | None]:
        attrs = _window_attrs(op)
        return [
            apply_op(
                f"{forward}BackpropInput",
                input_sizes=array_ops.shape(op.inputs[0]),
                filter=grad,
                out_backprop=op.inputs[2],
                **attrs,
            ),
            None,
            apply_op(forward, input=op.inputs[0], filter=grad, **attrs),
        ]

    return gradient


# --- ops ---------------------------------------------------------------------

_PADDING = "padding: {'SAME', 'VALID', 'EXPLICIT'}"
_LAYOUT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_DILATIONS = "dilations: list(int) = [1, 1, 1, 1]"
_FLOATS = "T: {half, bfloat16, float, double}"


def _conv_attrs(types: str) -> list[str]:
    return [
        types,
        "strides: list(int)",
        "use_cudnn_on_gpu: bool = true",
        _PADDING,
        "explicit_paddings: list(int) = []",
        _LAYOUT,
        _DILATIONS,
    ]


_DEPTHWISE_ATTRS = [
    _FLOATS,
    "strides: list(int)",
    _PADDING,
    # Of TensorFlow 2 for these; see `newer_attrs.ADDED`.
    "explicit_paddings: list(int) = []",
    _LAYOUT,
    _DILATIONS,
]

register_op(
    "Conv2D",
    inputs=["input: T", "filter: T"],
    outputs=["output: T"],
    attrs=_conv_attrs("T: {half, bfloat16, float, double, int32}"),
    shape_fn=_conv2d_shape,
    gradient=_conv2d_grad,
    doc="2-D convolution of images with filters [height, width, in, out].",
)

register_op(
    "Conv2DBackpropInput",
    inputs=["input_sizes: int32", "filter: T", "out_backprop: T"],
    outputs=["output: T"],
    attrs=_conv_attrs("T: {half, bfloat16, float, double, int32}"),
    shape_fn=_shape_in_first_input,
    gradient=_backprop_input_grad("Conv2D"),
    doc="The gradient of a convolution with respect to its images.",
)

register_op(
    "Conv2DBackpropFilter",
    inputs=["input: T", "filter_sizes: int32", "out_backprop: T"],
    outputs=["output: T"],
    attrs=_conv_attrs(_FLOATS),
    shape_fn=_shape_in_second_input,
    gradient=_backprop_filter_grad("Conv2D"),
    doc="The gradient of a convolution with respect to its filters.",
)

register_op(
    "DepthwiseConv2dNative",
    inputs=["input: T", "filter: T"],
    outputs=["output: T"],
    attrs=_DEPTHWISE_ATTRS,
    shape_fn=_depthwise_shape,
    gradient=_depthwise_grad,
    doc="2-D convolution of each channel with its own filters.",
)

register_op(
    "DepthwiseConv2dNativeBackpropInput",
    inputs=["input_sizes: int32", "filter: T", "out_backprop: T"],
    outputs=["output: T"],
    attrs=_DEPTHWISE_ATTRS,
    shape_fn=_shape_in_first_input,
    gradient=_backprop_input_grad("DepthwiseConv2dNative"),
    doc="The gradient of a depthwise convolution with respect to its images.",
)

register_op(
    "DepthwiseConv2dNativeBackpropFilter",
    inputs=["input: T", "filter_sizes: int32", "out_backprop: T"],
    outputs=["output: T"],
    attrs=_DEPTHWISE_ATTRS,
    shape_fn=_shape_in_second_input,
    gradient=_backprop_filter_grad("DepthwiseConv2dNative"),
    doc="The gradient of a depthwise convolution with respect to its filters.",
)
