"""3-D convolution: ops, gradients and builders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.convolution.window_shapes import sequence_of, window_output_size

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def volume_axes(data_format: bytes) -> tuple[tuple[int, int, int], int]:
    """((planes, rows, columns), channels): axes of a 5-D shape of this format."""
    return ((2, 3, 4), 1) if data_format == b"NCDHW" else ((1, 2, 3), 4)


def in_volume_order(
    data_format: bytes, batch: Any, spatial: Any, channels: Any
) -> tuple[Any, ...]:
    """A 5-D shape in the order of the data format."""
    if data_format == b"NCDHW":
        return (batch, channels, *spatial)
    return (batch, *spatial, channels)


def _conv3d_shape(c: InferenceContext) -> TensorShape:
    dims, filters = c.with_rank(0, 5).dims_tuple, c.with_rank(1, 5).dims_tuple
    assert dims is not None
    assert filters is not None
    data_format, strides = c.attrs["data_format"], c.attrs["strides"]
    dilations = c.attrs["dilations"]
    for values, word in ((strides, "stride"), (dilations, "dilation")):
        if len(values) != 5:
            c.fail(
                f"Conv3D requires the {word} attribute to contain 5 values, but got: "
                f"{len(values)}"
            )
    axes, channels = volume_axes(data_format)
    _check_depths(c, dims[channels], filters[3], filters[4])
    spatial = [
        window_output_size(
            c,
            dims[axis],
            filters[i],
            strides[axis],
            c.attrs["padding"],
            dilation=dilations[axis],
        )
        for i, axis in enumerate(axes)
    ]
    return TensorShape.of(in_volume_order(data_format, dims[0], spatial, filters[4]))


def _check_depths(
    c: InferenceContext,
    depth: int | None,
    filter_depth: int | None,
    output_depth: int | None,
) -> None:
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


def _first_input(c: InferenceContext) -> TensorShape:
    return c.with_rank(0, 5)


def _second_input(c: InferenceContext) -> TensorShape:
    return c.with_rank(1, 5)


def _shape_in_first(c: InferenceContext) -> TensorShape:
    return c.with_rank(c.input_value_as_shape(0), 5)


def _shape_in_second(c: InferenceContext) -> TensorShape:
    return c.with_rank(c.input_value_as_shape(1), 5)


# --- gradients ---------------------------------------------------------------


def _window_attrs(op: Operation) -> dict[str, Any]:
    names = ("dilations", "strides", "padding", "data_format")
    return {name: op.get_attr(name) for name in names}


def _conv3d_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    volume, filters = op.inputs
    attrs = _window_attrs(op)
    return [
        apply_op(
            "Conv3DBackpropInputV2",
            input_sizes=array_ops.shape(volume),
            filter=filters,
            out_backprop=grad,
            **attrs,
        ),
        apply_op(
            "Conv3DBackpropFilterV2",
            input=volume,
            filter_sizes=array_ops.shape(filters),
            out_backprop=grad,
            **attrs,
        ),
    ]


def _backprop_input_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    attrs = _window_attrs(op)
    return [
        None,
        apply_op(
            "Conv3DBackpropFilterV2",
            input=grad,
            filter_sizes=array_ops.shape(op.inputs[1]),
            out_backprop=op.inputs[2],
            **attrs,
        ),
        apply_op("Conv3D", input=grad, filter=op.inputs[1], **attrs),
    ]


def _backprop_filter_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    attrs = _window_attrs(op)
    return [
        apply_op(
            "Conv3DBackpropInputV2",
            input_sizes=array_ops.shape(op.inputs[0]),
            filter=grad,
            out_backprop=op.inputs[2],
            **attrs,
        ),
        None,
        apply_op("Conv3D", input=op.inputs[0], filter=grad, **attrs),
    ]


# --- ops ---------------------------------------------------------------------

_FLOATS = "T: {half, bfloat16, float, double}"
_STRIDES = "strides: list(int) >= 5"
_PADDING = "padding: {'SAME', 'VALID'}"
_LAYOUT = "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'"
_DILATIONS = "dilations: list(int) = [1, 1, 1, 1, 1]"

register_op(
    "Conv3D",
    inputs=["input: T", "filter: T"],
    outputs=["output: T"],
    attrs=[_FLOATS, _STRIDES, _PADDING, _LAYOUT, _DILATIONS],
    shape_fn=_conv3d_shape,
    gradient=_conv3d_grad,
    doc="3-D convolution of volumes with filters [depth, height, width, in, out].",
)

register_op(
    "Conv3DBackpropInputV2",
    inputs=["input_sizes: Tshape", "filter: T", "out_backprop: T"],
    outputs=["output: T"],
    attrs=[
        _FLOATS,
        _STRIDES,
        _PADDING,
        _LAYOUT,
        _DILATIONS,
        "Tshape: {int32, int64} = DT_INT32",
    ],
    shape_fn=_shape_in_first,
    gradient=_backprop_input_grad,
    doc="The gradient of a 3-D convolution with respect to its volumes.",
)

register_op(
    "Conv3DBackpropFilterV2",
    inputs=["input: T", "filter_sizes: int32", "out_backprop: T"],
    outputs=["output: T"],
    attrs=[_FLOATS, _STRIDES, _PADDING, _LAYOUT, _DILATIONS],
    shape_fn=_shape_in_second,
    gradient=_backprop_filter_grad,
    doc="The gradient of a 3-D convolution with respect to its filters.",
)

for _op, _shape, _doc in (
    ("Conv3DBackpropInput", _first_input, "Conv3DBackpropInputV2, sizes from input."),
    (
        "Conv3DBackpropFilter",
        _second_input,
        "Conv3DBackpropFilterV2, sizes from filter.",
    ),
):
    register_op(
        _op,
        inputs=["input: T", "filter: T", "out_backprop: T"],
        outputs=["output: T"],
        attrs=["T: {half, float, double}", _STRIDES, _PADDING, _DILATIONS],
        shape_fn=_shape,
        deprecated=(10, f"Use {_op}V2"),
        doc=_doc,
    )

# --- builders ----------------------------------------------------------------


@export("nn.conv3d")
def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """3-D convolution of volumes [batch, depth, height, width, channels].

    Args:
      filter: [depth, height, width, in channels, out channels].
      strides, dilations: five numbers, 1 for batch and channels.
      padding: "SAME" or "VALID".
    """
    return apply_op(  # type: ignore[no-any-return]
        "Conv3D",
        input=input,
        filter=either("filters", filters, "filter", filter),
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


@export("nn.conv3d_backprop_filter", "nn.conv3d_backprop_filter_v2")
def conv3d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `conv3d` with respect to its filters."""
    return apply_op(  # type: ignore[no-any-return]
        "Conv3DBackpropFilterV2",
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


@export("nn.conv3d_transpose")
def conv3d_transpose(
    value: Any,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose (gradient) of `conv3d`.

    Args:
      value: [batch, depth, height, width, in channels].
      filter: [depth, height, width, out channels, in channels].
      output_shape: of the result, five numbers.

    Raises:
      ValueError: shapes, strides or padding do not fit.
    """
    filter = either("filters", filters, "filter", filter)
    value = either("input", input, "value", value)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as name:
        data_format = data_format or "NDHWC"
        value = convert_to_tensor(value, name="value")
        filter = convert_to_tensor(filter, name="filter")
        axis = 1 if data_format == "NCDHW" else 4
        depth = value.shape.dims[axis] if value.shape.dims else None
        if depth is not None and not depth.is_compatible_with(filter.shape[4]):
            raise ValueError(
                "input channels does not match filter's input channels, "
                f"{depth} != {filter.shape[4]}"
            )
        sizes = _output_sizes(output_shape, filter, axis)
        if padding not in ("VALID", "SAME"):
            raise ValueError("padding must be either VALID or SAME:" + f" {padding}")
        return apply_op(  # type: ignore[no-any-return]
            "Conv3DBackpropInputV2",
            input_sizes=sizes,
            filter=filter,
            out_backprop=value,
            strides=sequence_of(strides, 3, axis, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=sequence_of(dilations or 1, 3, axis, "dilations"),
            name=name,
        )


def _output_sizes(output_shape: Any, filter: Tensor, axis: int) -> Any:
    sizes = convert_to_tensor(output_shape, name="output_shape")
    if not sizes.shape.is_compatible_with(TensorShape([5])):
        raise ValueError(f"output_shape must have shape (5,), got {sizes.shape}")
    if isinstance(output_shape, (list, np.ndarray)):
        channels = filter.shape.as_list()[3]
        if channels is not None and channels != output_shape[axis]:
            raise ValueError(
                "output_shape does not match filter's output channels, "
                f"{output_shape[axis]} != {channels}"
            )
    return sizes
