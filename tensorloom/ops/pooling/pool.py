"""Pooling: ops, gradients and builders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.convolution.window_shapes import (
    explicit_paddings,
    sequence_of,
    spatial_axes,
    window_output_size,
    with_channels,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def _check_lengths(c: InferenceContext, op: str) -> None:
    for attr, word in (("strides", "stride"), ("ksize", "ksize")):
        if len(c.attrs[attr]) != 4:
            c.fail(
                f"{op} requires the {word} attribute to contain 4 values, but got: "
                f"{len(c.attrs[attr])}"
            )


def _pool_size(c: InferenceContext, size: int | None, axis: int) -> int | None:
    before, after = explicit_paddings(c)[2 * axis : 2 * axis + 2]
    return window_output_size(
        c,
        size,
        c.attrs["ksize"][axis],
        c.attrs["strides"][axis],
        c.attrs["padding"],
        pad_before=before,
        pad_after=after,
    )


def _avg_pool_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank(0, 4).dims_tuple
    assert dims is not None
    _check_lengths(c, "AvgPool")
    rows, columns, channels = spatial_axes(c.attrs["data_format"])
    spatial = [_pool_size(c, dims[axis], axis) for axis in (rows, columns)]
    return TensorShape.of(
        with_channels(c.attrs["data_format"], dims[0], spatial, dims[channels])
    )


def _max_pool_shape(c: InferenceContext) -> TensorShape:
    """Windows over channels are possible too (depth-wise pooling)."""
    data_format = c.attrs["data_format"]
    if data_format == b"NCHW_VECT_C":
        c.fail("NCHW_VECT_C is a layout of quantized GPU kernels alone")
    dims = c.with_rank(0, 4).dims_tuple
    assert dims is not None
    _check_lengths(c, "MaxPool")
    rows, columns, channels = spatial_axes(data_format)
    spatial = [_pool_size(c, dims[axis], axis) for axis in (rows, columns)]
    depth = _pool_size(c, dims[channels], channels)
    return TensorShape.of(with_channels(data_format, dims[0], spatial, depth))


def _shape_in_input(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 1)
    return c.with_rank(c.input_value_as_shape(0), 4)


def _input_shape(c: InferenceContext) -> TensorShape:
    return c.with_rank(0, 4)


def _max_pool_grad_grad_shape(c: InferenceContext) -> TensorShape:
    output = _max_pool_shape(c)
    c.merge(c.input_shape(0), c.input_shape(2))
    c.merge(output, c.input_shape(1))
    return output


# --- gradients ---------------------------------------------------------------


def _pool_attrs(op: Operation) -> dict[str, Any]:
    attrs = op.attrs
    return {
        name: attrs[name]
        for name in ("ksize", "strides", "padding", "explicit_paddings", "data_format")
        # Not every pooling op has explicit paddings; none is what they all do.
        if attrs.get(name)
    }


def _avg_pool_grad(op: Operation, grad: Tensor) -> Tensor:
    return apply_op(  # type: ignore[no-any-return]
        "AvgPoolGrad",
        orig_input_shape=array_ops.shape(op.inputs[0]),
        grad=grad,
        **_pool_attrs(op),
    )


def _avg_pool_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [
        array_ops.stop_gradient(op.inputs[0]),
        apply_op("AvgPool", value=grad, **_pool_attrs(op)),
    ]


def _max_pool_grad(op: Operation, grad: Tensor) -> Tensor:
    return apply_op(  # type: ignore[no-any-return]
        "MaxPoolGrad",
        orig_input=op.inputs[0],
        orig_output=op.outputs[0],
        grad=grad,
        **_pool_attrs(op),
    )


def _max_pool_second_grad(op_type: str) -> Any:
    """MaxPoolGrad and MaxPoolGradGrad are each other's gradient."""

    def gradient(op: Operation, grad: Tensor) -> list[Tensor]:
        image, output = op.inputs[0], op.inputs[1]
        return [
            array_ops.zeros(shape=array_ops.shape(image), dtype=image.dtype),
            array_ops.zeros(shape=array_ops.shape(output), dtype=output.dtype),
            apply_op(
                op_type,
                orig_input=image,
                orig_output=output,
                grad=grad,
                **_pool_attrs(op),
            ),
        ]

    return gradient


# --- ops ---------------------------------------------------------------------

_WINDOW = ["ksize: list(int) >= 4", "strides: list(int) >= 4"]
_PADDING = "padding: {'SAME', 'VALID'}"
# Those that are given are of TensorFlow 2; see `newer_attrs.ADDED`.
_PADDINGS = [
    "padding: {'SAME', 'VALID', 'EXPLICIT'}",
    "explicit_paddings: list(int) = []",
]
_LAYOUT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_FLOATS = "T: {half, bfloat16, float, double}"
_NUMBERS = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
    "uint32, uint64}"
)

register_op(
    "AvgPool",
    inputs=["value: T"],
    outputs=["output: T"],
    attrs=[*_WINDOW, _PADDING, _LAYOUT, _FLOATS],
    shape_fn=_avg_pool_shape,
    gradient=_avg_pool_grad,
    doc="The mean of each window; padding does not count.",
)

register_op(
    "AvgPoolGrad",
    inputs=["orig_input_shape: int32", "grad: T"],
    outputs=["output: T"],
    attrs=[*_WINDOW, _PADDING, _LAYOUT, _FLOATS],
    shape_fn=_shape_in_input,
    gradient=_avg_pool_grad_grad,
    doc="The gradient of AvgPool.",
)

register_op(
    "MaxPool",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=[
        "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, "
        "qint8} = DT_FLOAT",
        *_WINDOW,
        *_PADDINGS,
        "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
    ],
    shape_fn=_max_pool_shape,
    gradient=_max_pool_grad,
    doc="The maximum of each window.",
)

register_op(
    "MaxPoolGrad",
    inputs=["orig_input: T", "orig_output: T", "grad: T"],
    outputs=["output: T"],
    attrs=[*_WINDOW, *_PADDINGS, _LAYOUT, f"{_NUMBERS} = DT_FLOAT"],
    shape_fn=_input_shape,
    gradient=_max_pool_second_grad("MaxPoolGradGrad"),
    doc="The gradient of MaxPool: it goes to the first maximum of each window.",
)

register_op(
    "MaxPoolGradGrad",
    inputs=["orig_input: T", "orig_output: T", "grad: T"],
    outputs=["output: T"],
    attrs=[*_WINDOW, _PADDING, _LAYOUT, _NUMBERS],
    shape_fn=_max_pool_grad_grad_shape,
    gradient=_max_pool_second_grad("MaxPoolGrad"),
    doc="The gradient of MaxPoolGrad: what `grad` has at each window's maximum.",
)

# --- builders ----------------------------------------------------------------


def _channel_index(data_format: str, last: int) -> int:
    return 1 if data_format.startswith("NC") else last


@export("nn.avg_pool", "nn.avg_pool2d")
def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The mean of each window of images [batch, height, width, channels]."""
    with name_scope(name, "AvgPool", [value]) as name:
        value = either("input", input, "value", value)
        data_format = data_format or "NHWC"
        channels = _channel_index(data_format, 3)
        return apply_op(  # type: ignore[no-any-return]
            "AvgPool",
            value=value,
            ksize=sequence_of(ksize, 2, channels, "ksize"),
            strides=sequence_of(strides, 2, channels, "strides"),
            padding=padding,
            data_format=data_format,
            name=name,
        )


@export("nn.max_pool")
def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The maximum of each window of images [batch, height, width, channels].

    Raises:
      ValueError: a window size is 0.
    """
    value = either("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as name:
        return _max_pool(value, ksize, strides, padding, data_format, name, True)


def _max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    name: str | None,
    refuse_zero: bool,
) -> Tensor:
    data_format = data_format or "NHWC"
    channels = _channel_index(data_format, 3)
    ksize = sequence_of(ksize, 2, channels, "ksize")
    strides = sequence_of(strides, 2, channels, "strides")
    if refuse_zero and 0 in list(ksize):
        raise ValueError("ksize cannot be zero.")
    return apply_op(  # type: ignore[no-any-return]
        "MaxPool",
        input=value,
        ksize=ksize,
        strides=strides,
        padding=padding,
        data_format=data_format,
        name=name,
    )


@export("nn.max_pool2d")
def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of images [batch, height, width, channels]."""
    with name_scope(name, "MaxPool2d", [input]) as name:
        return _max_pool(input, ksize, strides, padding, data_format, name, False)


@export("nn.avg_pool1d")
def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of sequences [batch, width, channels]."""
    with name_scope(name, "AvgPool1D", [input]) as name:
        return _pool1d(
            "AvgPool", "value", input, ksize, strides, padding, data_format, name
        )


@export("nn.max_pool1d")
def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of sequences [batch, width, channels]."""
    with name_scope(name, "MaxPool1d", [input]) as name:
        return _pool1d(
            "MaxPool", "input", input, ksize, strides, padding, data_format, name
        )


def _pool1d(
    op: str,
    argument: str,
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    """Pools images of height 1."""
    data_format = data_format or "NWC"
    channels = _channel_index(data_format, 2)
    height_axis = 1 if data_format == "NWC" else 2
    image = array_ops.expand_dims(value, height_axis)
    pooled = apply_op(
        op,
        **{argument: image},
        ksize=[1, *sequence_of(ksize, 1, channels, "ksize")],
        strides=[1, *sequence_of(strides, 1, channels, "strides")],
        padding=padding,
        data_format="NHWC" if data_format == "NWC" else "NCHW",
        name=name,
    )
    return array_ops.squeeze(pooled, height_axis)


@export("nn.max_pool_v2")
def max_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """`max_pool` for 1, 2 or 3 spatial dimensions, by the rank of the input.

    Raises:
      ValueError: another rank.
    """
    rank = _spatial_rank(input, data_format)
    if rank == 1:
        return max_pool1d(input, ksize, strides, padding, data_format or "NWC", name)
    if rank == 3:
        return _volume_pool(
            "MaxPool3D", input, ksize, strides, padding, data_format, name
        )
    return _max_pool(input, ksize, strides, padding, data_format, name, False)


@export("nn.avg_pool_v2")
def avg_pool_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """`avg_pool` for 1, 2 or 3 spatial dimensions, by the rank of the input.

    Raises:
      ValueError: another rank.
    """
    rank = _spatial_rank(input, data_format)
    if rank == 1:
        return avg_pool1d(input, ksize, strides, padding, data_format or "NWC", name)
    if rank == 3:
        return _volume_pool(
            "AvgPool3D", input, ksize, strides, padding, data_format, name
        )
    data_format = data_format or "NHWC"
    channels = _channel_index(data_format, 3)
    return apply_op(  # type: ignore[no-any-return]
        "AvgPool",
        value=input,
        ksize=sequence_of(ksize, 2, channels, "ksize"),
        strides=sequence_of(strides, 2, channels, "strides"),
        padding=padding,
        data_format=data_format,
        name=name,
    )


def _spatial_rank(value: Any, data_format: str | None) -> int:
    if value.shape is not None:
        rank = len(value.shape) - 2
    elif data_format is not None:
        rank = len(data_format) - 2
    else:
        raise ValueError("The input must have a rank or a data format must be given.")
    if rank not in (1, 2, 3):
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank + 2}.")
    return rank


def _volume_pool(
    op: str,
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    """Pools volumes, as `avg_pool3d` and `max_pool3d` do."""
    data_format = data_format or "NDHWC"
    channels = _channel_index(data_format, 4)
    return apply_op(  # type: ignore[no-any-return]
        op,
        input=value,
        ksize=sequence_of(ksize, 3, channels, "ksize"),
        strides=sequence_of(strides, 3, channels, "strides"),
        padding=padding,
        data_format=data_format,
        name=name,
    )
