"""Convolution builders: 1-D and 2-D, transposed, depthwise and separable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.convolution.window_shapes import check_list, sequence_of

_ONES = [1, 1, 1, 1]  # the default dilations, never changed


def explicit_paddings(padding: Any) -> tuple[Any, list[int]]:
    """The attrs padding and explicit_paddings for a `padding` argument.

    It is "SAME", "VALID", or a list of [before, after] for each dimension.

    Raises:
      ValueError: the list is malformed, or the word EXPLICIT is given.
    """
    if padding == "EXPLICIT":
        raise ValueError(
            '"EXPLICIT" is not a valid value for the padding parameter. To use '
            "explicit padding, the padding parameter must be a list."
        )
    if not isinstance(padding, (list, tuple)):
        return padding, []
    flat: list[int] = []
    rule = (
        "When padding is a list, each element of padding must be a list/tuple of "
        "size 2."
    )
    for index, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)):
            raise ValueError(
                f"{rule} Element with index {index} of padding is not a list/tuple"
            )
        if len(pair) != 2:
            raise ValueError(
                f"{rule} Element with index {index} of padding has size {len(pair)}"
            )
        flat.extend(pair)
    if len(padding) != 4:
        raise ValueError(
            "When padding is a list, it must be of size 4. Got padding of size: "
            f"{len(padding)}"
        )
    return "EXPLICIT", flat


@export("nn.conv2d")
def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Any = _ONES,
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """2-D convolution.

    Args:
      input: images [batch, height, width, in] (or "NCHW").
      filter: [height, width, in, out]; an `in` that divides the input's makes groups.
      strides, dilations: one number, [height, width], or one for each dimension.
      padding: "SAME", "VALID", or [[before, after], ...] for each dimension.

    Raises:
      ValueError: malformed strides, dilations or padding; shapes that do not fit.
    """
    filter = either("filters", filters, "filter", filter)
    padding, paddings = explicit_paddings(padding)
    data_format = data_format or "NHWC"
    channels = 1 if data_format.startswith("NC") else 3
    strides = sequence_of(strides, 2, channels, "strides")
    return apply_op(  # type: ignore[no-any-return]
        "Conv2D",
        input=input,
        filter=filter,
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=paddings,
        data_format=data_format,
        dilations=sequence_of(dilations, 2, channels, "dilations"),
        name=name,
    )


@export("nn.conv2d_backprop_filter")
def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sequence[int] = _ONES,
    name: str | None = None,
) -> Tensor:
    """The gradient of `conv2d` with respect to its filter."""
    padding, paddings = explicit_paddings(padding)
    return apply_op(  # type: ignore[no-any-return]
        "Conv2DBackpropFilter",
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=paddings,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@export("nn.conv2d_backprop_input")
def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Sequence[int] = _ONES,
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """The gradient of `conv2d` with respect to its input."""
    filter = either("filters", filters, "filter", filter)
    padding, paddings = explicit_paddings(padding)
    return apply_op(  # type: ignore[no-any-return]
        "Conv2DBackpropInput",
        input_sizes=input_sizes,
        filter=filter,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=paddings,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@export("nn.conv2d_transpose")
def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose of `conv2d`; the filter is [height, width, out, in]."""
    value = either("input", input, "value", value)
    filter = either("filters", filters, "filter", filter)
    data_format = data_format or "NHWC"
    channels = 1 if data_format.startswith("NC") else 3
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as name:
        return apply_op(  # type: ignore[no-any-return]
            "Conv2DBackpropInput",
            input_sizes=output_shape,
            filter=filter,
            out_backprop=value,
            strides=sequence_of(strides, 2, channels, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=sequence_of(dilations, 2, channels, "dilations"),
            name=name,
        )


def _sequence_layout(data_format: str | None, allowed: Any) -> tuple[str, int, int]:
    """(2-D data format, axis of the height to add, channel axis) for a 1-D format."""
    if data_format is None or data_format in allowed[0]:
        return "NHWC", 1, 2
    if data_format in allowed[1]:
        return "NCHW", 2, 1
    raise ValueError('data_format must be "NWC" or "NCW".')


@export("nn.conv1d")
def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Tensor:
    """1-D convolution of sequences [batch, width, in], filters [width, in, out].

    Raises:
      ValueError: an unknown data format.
    """
    value = either("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as name:
        layout, height_axis, channels = _sequence_layout(
            data_format, (("NHWC", "NWC"), ("NCHW", "NCW"))
        )
        strides = [1, *sequence_of(stride, 1, channels, "stride")]
        dilations = [1, *sequence_of(dilations, 1, channels, "dilations")]
        value = array_ops.expand_dims(value, height_axis)
        filters = array_ops.expand_dims(filters, 0)
        result = apply_op(
            "Conv2D",
            input=value,
            filter=filters,
            strides=strides,
            padding=padding,
            use_cudnn_on_gpu=use_cudnn_on_gpu,
            data_format=layout,
            dilations=dilations,
            name=name,
        )
        return array_ops.squeeze(result, [height_axis])


@export("nn.conv1d_transpose")
def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv1d`; filters are [width, out, in].

    Raises:
      ValueError: an unknown data format.
    """
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as name:
        layout, height_axis, channels = _sequence_layout(
            data_format, (("NWC",), ("NCW",))
        )
        strides = [1, *sequence_of(strides, 1, channels, "stride")]
        dilations = [1, *sequence_of(dilations, 1, channels, "dilations")]
        input = array_ops.expand_dims(input, height_axis)
        filters = array_ops.expand_dims(filters, 0)
        if not isinstance(output_shape, Tensor):
            output_shape = list(output_shape)
        output_shape = array_ops.concat(
            [output_shape[:height_axis], [1], output_shape[height_axis:]], 0
        )
        result = apply_op(
            "Conv2DBackpropInput",
            input_sizes=output_shape,
            filter=filters,
            out_backprop=input,
            strides=strides,
            padding=padding,
            data_format=layout,
            dilations=dilations,
            name=name,
        )
        return array_ops.squeeze(result, height_axis)


# --- depthwise ---------------------------------------------------------------


@export("nn.depthwise_conv2d_native")
def depthwise_conv2d_native(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    dilations: Sequence[int] = _ONES,
    name: str | None = None,
) -> Tensor:
    """Each channel convolved with its filters [height, width, in, multiplier]."""
    check_list(strides, "strides", "depthwise_conv2d_native")
    return apply_op(  # type: ignore[no-any-return]
        "DepthwiseConv2dNative",
        input=input,
        filter=filter,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@export(
    "nn.depthwise_conv2d_native_backprop_input", "nn.depthwise_conv2d_backprop_input"
)
def depthwise_conv2d_native_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Sequence[int] = _ONES,
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d_native` with respect to its input."""
    return apply_op(  # type: ignore[no-any-return]
        "DepthwiseConv2dNativeBackpropInput",
        input_sizes=input_sizes,
        filter=filter,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@export(
    "nn.depthwise_conv2d_native_backprop_filter", "nn.depthwise_conv2d_backprop_filter"
)
def depthwise_conv2d_native_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Sequence[int] = _ONES,
    name: str | None = None,
) -> Tensor:
    """The gradient of `depthwise_conv2d_native` with respect to its filter."""
    return apply_op(  # type: ignore[no-any-return]
        "DepthwiseConv2dNativeBackpropFilter",
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@export("nn.depthwise_conv2d")
def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Each channel convolved with its filters; `rate` is the dilation."""
    from tensorloom.ops.convolution.space_to_batch import with_space_to_batch

    rate = either("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as name:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")

        def op(converted: Tensor, _: int, padding: Any) -> Tensor:
            return depthwise_conv2d_native(
                converted, filter, strides, padding, data_format, name=name
            )

        return with_space_to_batch(
            input=input,
            dilation_rate=[1, 1] if rate is None else rate,
            padding=padding,
            op=op,
            filter_shape=array_ops.shape(filter),
            data_format=data_format,
        )


@export("nn.separable_conv2d")
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """A depthwise convolution, then one that mixes channels [1, 1, in, out].

    Raises:
      ValueError: the pointwise filter is not 1 by 1.
    """
    from tensorloom.ops.convolution.space_to_batch import with_space_to_batch

    rate = either("dilations", dilations, "rate", rate)
    operands = [input, depthwise_filter, pointwise_filter]
    with name_scope(name, "separable_conv2d", operands) as name:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        pointwise_shape = pointwise_filter.shape.with_rank(4)
        pointwise_shape[0].assert_is_compatible_with(1)
        pointwise_shape[1].assert_is_compatible_with(1)

        def op(converted: Tensor, _: int, padding: Any) -> Tensor:
            return depthwise_conv2d_native(
                converted,
                depthwise_filter,
                strides,
                padding,
                data_format,
                name="depthwise",
            )

        depthwise = with_space_to_batch(
            input=input,
            dilation_rate=[1, 1] if rate is None else rate,
            padding=padding,
            op=op,
            filter_shape=array_ops.shape(depthwise_filter),
            data_format=data_format,
        )
        return conv2d(
            depthwise,
            pointwise_filter,
            _ONES,
            padding="VALID",
            data_format=data_format,
            name=name,
        )
