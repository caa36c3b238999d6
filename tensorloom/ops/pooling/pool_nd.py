"""`tf.nn.pool`: pooling by name and number of dimensions, perhaps dilated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.convolution.space_to_batch import (
    WindowOp,
    strides_and_rate,
    with_space_to_batch,
)
from tensorloom.ops.pooling.pool import avg_pool, max_pool
from tensorloom.ops.pooling.pool3d import avg_pool3d, max_pool3d

_IMAGES: Final = {"MAX": max_pool, "AVG": avg_pool}
_VOLUMES: Final = {"MAX": max_pool3d, "AVG": avg_pool3d}


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
    """ "MAX" or "AVG" pooling in one to three spatial dimensions, perhaps dilated.

    Raises:
      ValueError: an unknown kind of pooling, or arguments that do not fit together.
    """
    dilation_rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        count = len(window_shape)
        if count not in (1, 2, 3):
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        input.shape.with_rank(count + 2)
        steps, rate = strides_and_rate(count, strides, dilation_rate)
        if padding == "SAME" and np.any(rate > 1):
            raise ValueError(
                "pooling with SAME padding is not implemented for dilation_rate > 1"
            )
        if np.any(steps > window_shape):
            raise ValueError(
                "strides > window_shape not supported due to inconsistency between "
                "CPU and GPU implementations"
            )
        kinds = _VOLUMES if count == 3 else _IMAGES
        pooling = kinds.get(pooling_type)
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
