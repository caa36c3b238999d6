"""A convolution that is prepared once, when its layer is built, for many calls.

The nodes that do not depend on the inputs are made then, so that further calls of a
layer make only the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.convolution.builders import conv1d
from tensorloom.ops.convolution.space_to_batch import (
    in_batch,
    strides_and_rate,
    window_paddings,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.types.tensor_shape import TensorShape


class Convolution:
    """A convolution of one to three dimensions with given sizes, called with tensors.

    Args:
      input_shape, filter_shape: static shapes.
      padding: "VALID", "SAME", or a list of paddings.
      strides, dilation_rate: a number each spatial dimension.
      data_format: as the ops name it.

    Raises:
      ValueError: ranks, channels, strides or dilations that do not fit.
    """

    def __init__(
        self,
        input_shape: TensorShape,
        filter_shape: TensorShape,
        padding: Any,
        strides: Sequence[int],
        dilation_rate: Sequence[int],
        data_format: str,
    ) -> None:
        count = (filter_shape.rank or 0) - 2
        first = 2 if data_format.startswith("NC") else 1
        channels = input_shape[1 if first == 2 else count + 1]
        if not channels.is_compatible_with(filter_shape[count]):
            raise ValueError(
                "number of input channels does not match corresponding dimension of "
                f"filter, {channels} != {filter_shape[count]}"
            )
        steps, rates = strides_and_rate(count, strides, dilation_rate)
        self._count = count
        self._steps = [int(step) for step in steps]
        self._padding = padding
        self._data_format = data_format
        self._rate = convert_to_tensor(rates, dtypes.int32, name="dilation_rate")
        self._spatial = list(range(first, first + count))
        self._paddings: Any = None
        if (rates > 1).any():
            self._paddings = window_paddings(padding, filter_shape, count, rates)

    def __call__(self, inputs: Tensor, filters: Any) -> Tensor:
        """The convolution of the inputs."""
        if self._paddings is None:
            return self._plain(inputs, filters, self._padding)
        convolve: Callable[[Tensor], Tensor] = lambda moved: self._plain(
            moved, filters, "VALID"
        )
        result = in_batch(inputs, self._rate, self._paddings, self._spatial, convolve)
        if self._spatial[0] == 2 and result.shape.as_list()[1] is None:
            sizes = result.shape.as_list()
            sizes[1] = filters.shape.as_list()[-1]
            result.set_shape(sizes)
        return result

    def _plain(self, inputs: Tensor, filters: Any, padding: Any) -> Tensor:
        if self._count == 1:
            return conv1d(
                inputs,
                filters,
                self._steps[0],
                padding,
                data_format=self._data_format,
            )
        strides = [1, 1, *self._steps]
        if self._spatial[0] == 1:
            strides = [1, *self._steps, 1]
        return apply_op(  # type: ignore[no-any-return]
            "Conv2D" if self._count == 2 else "Conv3D",
            input=inputs,
            filter=filters,
            strides=strides,
            padding=padding,
            data_format=self._data_format,
        )
