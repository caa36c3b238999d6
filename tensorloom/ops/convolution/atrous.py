"""Convolution with dilated filters, in any number of dimensions, and its transpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.convolution.builders import conv1d, conv2d, conv2d_transpose
from tensorloom.ops.convolution.space_to_batch import (
    strides_and_rate,
    with_space_to_batch,
)
from tensorloom.ops.convolution.window_shapes import sequence_of


@export("nn.convolution")
def convolution(
    input: Any,
    filter: Any,
    padding: str,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Convolution in one to three spatial dimensions, by the rank of the input.

    Raises:
      ValueError: ranks, strides or dilations that do not fit.
    """
    filter = either("filters", filters, "filter", filter)
    rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    count = _spatial_rank(input, filter)
    channels = 1 if data_format and data_format.startswith("NC") else count + 1
    strides = sequence_of(strides, count, channels, "strides")
    rate = sequence_of(rate, count, channels, "dilations")
    with name_scope(name, "convolution", [input, filter]) as name:
        if all(r == 1 for r in rate):
            return _undilated(
                input, filter, strides, padding, data_format, rate, count, name
            )
        spatial = slice(2, None) if channels == 1 else slice(1, -1)
        return _dilated(
            input,
            filter,
            padding,
            strides[spatial],
            rate[spatial],
            data_format,
            name,
        )


def _spatial_rank(input: Any, filters: Any) -> int:
    for value in (input, filters):
        shape = as_shape(value.shape)
        if shape.rank is not None:
            count = shape.rank - 2
            break
    else:
        raise ValueError("rank of input or filter must be known")
    if not 1 <= count <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {count + 2}.")
    return count


def _undilated(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
    count: int,
    name: str | None,
) -> Tensor:
    if count == 1:
        return conv1d(
            input,
            filters,
            strides,
            padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
        )
    return apply_op(  # type: ignore[no-any-return]
        "Conv2D" if count == 2 else "Conv3D",
        input=input,
        filter=filters,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def _dilated(
    input: Any,
    filters: Any,
    padding: str,
    strides: Sequence[int],
    rate: Sequence[int],
    data_format: str | None,
    name: str | None,
) -> Tensor:
    input_shape, filter_shape = as_shape(input.shape), as_shape(filters.shape)
    count = (filter_shape.rank or input_shape.rank or 0) - 2
    if input_shape.rank not in (None, count + 2):
        raise ValueError(f"input tensor must have rank {count + 2}")
    if filter_shape.rank not in (None, count + 2):
        raise ValueError(f"filter tensor must have rank {count + 2}")
    channels_first = data_format is not None and data_format.startswith("NC")
    first = 2 if channels_first else 1
    _check_channels(input_shape, filter_shape, 1 if channels_first else count + 1)
    steps, rates = strides_and_rate(count, strides, rate)

    def op(value: Tensor, _: int, padding: Any) -> Tensor:
        if count == 1:
            return conv1d(
                value, filters, steps[0], padding, data_format=data_format, name=name
            )
        full = [1, 1, *steps] if channels_first else [1, *steps, 1]
        if count == 3:
            return apply_op(  # type: ignore[no-any-return]
                "Conv3D",
                input=value,
                filter=filters,
                strides=full,
                padding=padding,
                data_format=data_format,
                name=name,
            )
        return conv2d(value, filters, full, padding, data_format=data_format, name=name)

    return with_space_to_batch(
        input,
        rates,
        padding,
        op,
        filter_shape=filter_shape,
        spatial_dims=range(first, first + count),
        data_format=data_format,
    )


def _check_channels(
    input_shape: TensorShape, filter_shape: TensorShape, axis: int
) -> None:
    if input_shape.rank is None or filter_shape.rank is None:
        return
    channels, expected = input_shape[axis], filter_shape[filter_shape.rank - 2]
    if not channels.is_compatible_with(expected):
        raise ValueError(
            "number of input channels does not match corresponding dimension of "
            f"filter, {channels} != {expected}"
        )


@export("nn.atrous_conv2d")
def atrous_conv2d(
    value: Any, filters: Any, rate: Any, padding: str, name: str | None = None
) -> Tensor:
    """2-D convolution with filters spread out by `rate`."""
    return convolution(
        input=value,
        filter=filters,
        padding=padding,
        dilation_rate=np.broadcast_to(rate, (2,)),
        name=name,
    )


@export("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(
    value: Any,
    filters: Any,
    output_shape: Any,
    rate: int,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The transpose of `atrous_conv2d`; filters are [height, width, out, in].

    Raises:
      ValueError: a rate below one, or channels and shapes that do not fit.
    """
    operands = [value, filters, output_shape]
    with name_scope(name, "atrous_conv2d_transpose", operands) as name:
        value = convert_to_tensor(value, name="value")
        filters = convert_to_tensor(filters, name="filters")
        if not value.shape[3].is_compatible_with(filters.shape[3]):
            raise ValueError(
                "value's input channels does not match filters' input channels, "
                f"{value.shape[3]} != {filters.shape[3]}"
            )
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return conv2d_transpose(
                value, filters, output_shape, strides=[1, 1, 1, 1], padding=padding
            )
        output_shape = _checked_output_shape(output_shape, filters)
        return _atrous_transpose(value, filters, output_shape, rate, padding)


def _checked_output_shape(output_shape: Any, filters: Tensor) -> Any:
    tensor = convert_to_tensor(output_shape, name="output_shape")
    if not tensor.shape.is_compatible_with(TensorShape.of((4,))):
        raise ValueError(f"output_shape must have shape (4,), got {tensor.shape}")
    if isinstance(output_shape, tuple):
        output_shape = list(output_shape)
    if isinstance(output_shape, (list, np.ndarray)) and not filters.shape[
        2
    ].is_compatible_with(output_shape[3]):
        raise ValueError(
            "output_shape does not match filter's output channels, "
            f"{output_shape[3]} != {filters.shape[2]}"
        )
    return output_shape


def _atrous_transpose(
    value: Tensor, filters: Tensor, output_shape: Any, rate: int, padding: str
) -> Tensor:
    top, bottom, left, right = _same_padding(filters, rate, padding)
    height = output_shape[1] + top + bottom
    width = output_shape[2] + left + right
    # What brings height and width to multiples of the rate.
    bottom_extra = (rate - height % rate) % rate
    right_extra = (rate - width % rate) % rate
    value = array_ops.space_to_batch(
        input=value,
        paddings=[[0, bottom_extra], [0, right_extra]],
        block_size=rate,
    )
    value = apply_op(
        "Conv2DBackpropInput",
        input_sizes=[
            rate * rate * output_shape[0],
            (height + bottom_extra) // rate,
            (width + right_extra) // rate,
            output_shape[3],
        ],
        filter=filters,
        out_backprop=value,
        strides=[1, 1, 1, 1],
        padding="VALID",
        data_format="NHWC",
    )
    return array_ops.batch_to_space(
        input=value,
        crops=[[top, bottom + bottom_extra], [left, right + right_extra]],
        block_size=rate,
    )


def _same_padding(filters: Tensor, rate: int, padding: str) -> tuple[Any, ...]:
    """(top, bottom, left, right) of the dilated filter."""
    if padding == "VALID":
        return 0, 0, 0, 0
    if padding != "SAME":
        raise ValueError(f"padding must be either VALID or SAME: {padding}")
    if filters.shape.is_fully_defined():
        sizes: Any = filters.shape.as_list()
    else:
        sizes = array_ops.shape(filters)
    rows, columns = sizes[0], sizes[1]
    pad_height = rows + (rows - 1) * (rate - 1) - 1
    pad_width = columns + (columns - 1) * (rate - 1) - 1
    top, left = pad_height // 2, pad_width // 2
    return top, pad_height - top, left, pad_width - left
