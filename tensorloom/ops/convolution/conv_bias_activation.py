"""FusedConv2DBiasActivation: a convolution with what usually follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.convolution.window_shapes import window_output_size

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

# Where rows, columns and channels are among the four dimensions. NCHW_VECT_C has a
# fifth one, with four channels.
_IMAGE_AXES = {b"NHWC": (1, 2, 3), b"NCHW": (2, 3, 1), b"NCHW_VECT_C": (2, 3, 1)}
# Rows, columns, input and output channels of the filter.
_FILTER_AXES = {
    b"HWIO": (0, 1, 2, 3),
    b"OIHW": (2, 3, 1, 0),
    b"OIHW_VECT_I": (2, 3, 1, 0),
}


def _channels(dims: tuple[int | None, ...], axis: int) -> int | None:
    """The size of the channels' axis times the fifth dimension."""
    count = dims[axis]
    if len(dims) == 4 or count is None or dims[4] is None:
        return count if len(dims) == 4 else None
    return count * dims[4]


def _fused_shape(c: InferenceContext) -> TensorShape:
    data_format, filter_format = c.attrs["data_format"], c.attrs["filter_format"]
    is_vector = data_format == b"NCHW_VECT_C"
    image = c.with_rank(0, 5 if is_vector else 4).dims_tuple
    filters = c.with_rank(1, 5 if filter_format == b"OIHW_VECT_I" else 4).dims_tuple
    bias = c.with_rank(2, 1).dims_tuple
    assert image is not None
    assert filters is not None
    assert bias is not None
    for scale in (4, 5):
        c.with_rank(scale, 0)
    strides, dilations = c.attrs["strides"], c.attrs["dilations"]
    if len(strides) != 4:
        c.fail(
            f"Conv2D on data format {data_format.decode()} requires the stride "
            f"attribute to contain 4 values, but got: {len(strides)}"
        )
    if len(dilations) != 4:
        c.fail(
            "Conv2D requires the dilation attribute to contain 4 values, but got: "
            f"{len(dilations)}"
        )
    *spatial, channel = _IMAGE_AXES[data_format]
    *windows, inner, outer = _FILTER_AXES[filter_format]
    depth, taken = _channels(image, channel), _channels(filters, inner)
    if depth is not None and taken is not None and (not taken or depth % taken):
        c.fail(
            f"Depth of input ({depth}) is not a multiple of input depth of filter "
            f"({taken})"
        )
    given = filters[outer]
    if given is not None and bias[0] is not None and given != bias[0]:
        c.fail(
            f"Output depth dimension ({given}) and bias dimension ({bias[0]}) do not "
            "match."
        )
    result: list[int | None] = [image[0], None, None, None]
    for axis, window in zip(spatial, windows, strict=True):
        result[axis] = window_output_size(
            c,
            image[axis],
            filters[window],
            strides[axis],
            c.attrs["padding"],
            dilation=dilations[axis],
        )
    result[channel] = given if given is not None else bias[0]
    if is_vector:
        made = result[channel]
        result[channel] = None if made is None else made // 4
        result.append(4)
    return TensorShape.of(tuple(result))


register_op(
    "FusedConv2DBiasActivation",
    inputs=[
        "conv_input: T",
        "filter: T",
        "bias: Tbias",
        "side_input: T",
        "conv_input_scale: float",
        "side_input_scale: float",
    ],
    outputs=["output: T"],
    attrs=[
        "T: {float, half, qint8}",
        "Tbias: {float, half}",
        "strides: list(int)",
        "padding: {'SAME', 'VALID'}",
        "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
        "filter_format: {'HWIO', 'OIHW', 'OIHW_VECT_I'} = 'HWIO'",
        "activation_mode: {'Relu', 'None'} = 'Relu'",
        "dilations: list(int) = [1, 1, 1, 1]",
    ],
    shape_fn=_fused_shape,
    doc="activation(scale * convolution + side_scale * side_input + bias).",
)
