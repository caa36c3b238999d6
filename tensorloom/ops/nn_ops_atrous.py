"""Dilated windows by moving space into the batch, and the builders made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorloom.framework import dtypes
from tensorloom.framework.constant_value import constant_value
from tensorloom.framework.export import export
from tensorloom.framework.graph import Tensor, name_scope
from tensorloom.framework.op_def_library import apply_op
from tensorloom.framework.tensor_conversion import convert_to_tensor
from tensorloom.framework.tensor_shape import TensorShape, as_shape
from tensorloom.ops import array_ops
from tensorloom.ops.argument_aliases import either
from tensorloom.ops.nn_ops_convolution import conv1d, conv2d, conv2d_transpose
from tensorloom.ops.nn_ops_pool import avg_pool, max_pool
from tensorloom.ops.window_shapes import sequence_of

WindowOp = Callable[[Tensor, int, Any], Tensor]

# --- space to batch ----------------------------------------------------------


@export("nn.with_space_to_batch")
def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: WindowOp,
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Applies a window op with dilated windows.

    Positions that a dilated window sees together are moved into one batch element;
    `op(value, number of spatial dims, padding)` then sees plain windows.

    Raises:
      ValueError: a rate that is not positive, or arguments that do not fit together.
    """
    input = convert_to_tensor(input, name="input")
    rate = convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
    count = _rate_length(rate)
    dims = _checked_spatial_dims(spatial_dims, count, data_format, input.shape)
    constant_rate = constant_value(rate)
    if constant_rate is not None:
        if np.any(constant_rate < 1):
            raise ValueError("dilation_rate must be positive")
        if np.all(constant_rate == 1):
            return op(input, count, padding)
    known_rate = rate if constant_rate is None else constant_rate
    base_paddings = _base_paddings(padding, filter_shape, count, known_rate)
    return _in_batch(input, rate, base_paddings, dims, lambda v: op(v, count, "VALID"))


def _rate_length(rate: Tensor) -> int:
    dims = rate.shape.dims_tuple
    if dims is not None and len(dims) != 1:
        raise ValueError("rate must be rank 1")
    if dims is None or dims[0] is None:
        raise ValueError("rate must have known shape")
    return dims[0]


def _checked_spatial_dims(
    spatial_dims: Sequence[int] | None,
    count: int,
    data_format: str | None,
    input_shape: TensorShape,
) -> list[int]:
    channels_first = data_format is not None and data_format.startswith("NC")
    start = 2 if channels_first else 1
    given = (
        list(range(start, start + count))
        if spatial_dims is None
        else list(spatial_dims)
    )
    ordered = sorted({int(dim) for dim in given})
    if ordered != given or any(dim < 1 for dim in ordered):
        raise ValueError(
            "spatial_dims must be a montonically increasing sequence of positive "
            "integers"
        )
    expected = ordered[-1] if channels_first else ordered[-1] + 1
    if input_shape.rank is not None and input_shape.rank < expected:
        raise ValueError(f"input tensor must have rank {expected} at least")
    return ordered


def _base_paddings(padding: str, filter_shape: Any, count: int, rate: Any) -> Any:
    """What to pad before the move, [count, 2], so that VALID windows follow."""
    if padding == "VALID":
        return np.zeros([count, 2], np.int32)
    if padding != "SAME":
        raise ValueError(f"Invalid padding method {padding!r}")
    if filter_shape is None:
        raise ValueError("filter_shape must be specified for SAME padding")
    filter_shape = convert_to_tensor(filter_shape, name="filter_shape")
    constant_shape = constant_value(filter_shape)
    windows = (filter_shape if constant_shape is None else constant_shape)[:count]
    extra = windows + (windows - 1) * (rate - 1) - 1
    before = extra // 2
    after = extra - before
    return array_ops.stack([[before[i], after[i]] for i in range(count)])


def _in_batch(
    input: Tensor,
    rate: Tensor,
    base_paddings: Any,
    spatial_dims: list[int],
    op: Callable[[Tensor], Tensor],
) -> Tensor:
    dims = input.shape.dims_tuple
    sizes: Any = None if dims is None else [dims[i] for i in spatial_dims]
    if sizes is None or None in sizes:
        shape = array_ops.shape(input)
        sizes = array_ops.stack([shape[i] for i in spatial_dims])
    paddings, crops = array_ops.required_space_to_batch_paddings(
        input_shape=sizes, base_paddings=base_paddings, block_shape=rate
    )
    block_shape = _for_all_dims(rate, 1, spatial_dims)
    paddings = _for_all_dims(paddings, 0, spatial_dims)
    crops = _for_all_dims(crops, 0, spatial_dims)
    moved = array_ops.space_to_batch_nd(
        input=input, block_shape=block_shape, paddings=paddings
    )
    return array_ops.batch_to_space_nd(
        input=op(moved), block_shape=block_shape, crops=crops
    )


def _for_all_dims(value: Tensor, fill: int, spatial_dims: list[int]) -> Any:
    """Extends one row a spatial dimension to one for each up to the last of them."""
    constant = constant_value(value)
    rows: Any = value if constant is None else constant
    shape = value.shape.as_list()[1:]
    parts: list[Any] = []
    previous = index = 0
    while index < len(spatial_dims):
        first, start = index, spatial_dims[index]
        if start > 1:
            parts.append(
                np.full(
                    [start - 1 - previous, *shape], fill, value.dtype.as_numpy_dtype
                )
            )
        while (
            index + 1 < len(spatial_dims)
            and spatial_dims[index + 1] == spatial_dims[index] + 1
        ):
            index += 1
        parts.append(rows[first : index + 1])
        previous = spatial_dims[index]
        index += 1
    if constant is not None:
        return np.concatenate(parts)
    return array_ops.concat(parts, 0)


# --- builders ----------------------------------------------------------------


def _strides_and_rate(
    count: int, strides: Any, dilation_rate: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Both as arrays of `count` positive numbers; not both above one."""
    checked = []
    for value, name in ((dilation_rate, "dilation_rate"), (strides, "strides")):
        if value is None:
            value = [1] * count
        elif len(value) != count:
            raise ValueError(f"len({name})={len(value)} but should be {count}")
        array = np.array(value, dtype=np.int32)
        if np.any(array < 1):
            raise ValueError(f"all values of {name} must be positive")
        checked.append(array)
    rate, steps = checked
    if np.any(steps > 1) and np.any(rate > 1):
        raise ValueError(
            "strides > 1 not supported in conjunction with dilation_rate > 1"
        )
    return steps, rate


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
    """Convolution in one or two spatial dimensions, by the rank of the input.

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
    if not 1 <= count <= 2:
        raise ValueError(f"Input tensor must be of rank 3 or 4 but was {count + 2}.")
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
        "Conv2D",
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
    steps, rates = _strides_and_rate(count, strides, rate)

    def op(value: Tensor, _: int, padding: Any) -> Tensor:
        if count == 1:
            return conv1d(
                value, filters, steps[0], padding, data_format=data_format, name=name
            )
        full = [1, 1, *steps] if channels_first else [1, *steps, 1]
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


@export("nn.pool")
def pool(
    input: Any,
    window_shape: Sequence[int],
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """ "MAX" or "AVG" pooling in one or two spatial dimensions, perhaps dilated.

    Raises:
      ValueError: an unknown kind of pooling, or arguments that do not fit together.
    """
    dilation_rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        count = len(window_shape)
        if count not in (1, 2):
            raise ValueError("It is required that 1 <= num_spatial_dims <= 2.")
        input.shape.with_rank(count + 2)
        steps, rate = _strides_and_rate(count, strides, dilation_rate)
        if padding == "SAME" and np.any(rate > 1):
            raise ValueError(
                "pooling with SAME padding is not implemented for dilation_rate > 1"
            )
        if np.any(steps > window_shape):
            raise ValueError(
                "strides > window_shape not supported due to inconsistency between "
                "CPU and GPU implementations"
            )
        pooling = {"MAX": max_pool, "AVG": avg_pool}.get(pooling_type)
        if pooling is None:
            raise ValueError(f"{count}-D {pooling_type} pooling is not supported.")
        op, spatial_dims = _window_pool(
            pooling, list(window_shape), list(steps), data_format, scope
        )
        return with_space_to_batch(
            input=input,
            dilation_rate=rate,
            padding=padding,
            op=op,
            filter_shape=window_shape,
            spatial_dims=spatial_dims,
        )


def _window_pool(
    pooling: Callable[..., Tensor],
    window: list[int],
    strides: list[int],
    data_format: str | None,
    name: str,
) -> tuple[WindowOp, range]:
    """The pooling of one dense window, and which dimensions are spatial."""
    count = len(window)
    channels_first = data_format is not None and data_format.startswith("NC")
    first = 2 if channels_first else 1
    layout = _pool_layout(data_format, count)
    if count == 1:
        window, strides = [1, *window], [1, *strides]
    ones = ([1, 1], []) if channels_first else ([1], [1])
    full_window = [*ones[0], *window, *ones[1]]
    full_strides = [*ones[0], *strides, *ones[1]]

    def op(value: Tensor, _: int, padding: Any) -> Tensor:
        if count == 1:
            value = array_ops.expand_dims(value, first)
        result = pooling(
            value, full_window, full_strides, padding, data_format=layout, name=name
        )
        return array_ops.squeeze(result, [first]) if count == 1 else result

    return op, range(first, first + count)


def _pool_layout(data_format: str | None, count: int) -> str | None:
    if count > 1:
        return data_format
    if data_format is None or data_format == "NWC":
        return "NHWC"
    if data_format == "NCW":
        return "NCHW"
    raise ValueError('data_format must be either "NWC" or "NCW".')
