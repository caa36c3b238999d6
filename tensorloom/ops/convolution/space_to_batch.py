"""Dilated windows by moving space into the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape

WindowOp = Callable[[Tensor, int, Any], Tensor]


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
    base_paddings = window_paddings(padding, filter_shape, count, known_rate)
    return in_batch(input, rate, base_paddings, dims, lambda v: op(v, count, "VALID"))


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


def window_paddings(padding: str, filter_shape: Any, count: int, rate: Any) -> Any:
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


def in_batch(
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


def strides_and_rate(
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
