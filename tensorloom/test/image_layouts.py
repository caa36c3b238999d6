"""Images and their shapes from one layout to another, for tests of many layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorloom.framework.graph.tensor import Tensor
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import reshape


def _permuted(value: Any, orders: Mapping[int, Sequence[int]]) -> Any:
    if isinstance(value, Tensor):
        return transpose(value, list(orders[len(value.shape)]))
    return [value[axis] for axis in orders[len(value)]]


def NHWCToNCHW(input_tensor: Any) -> Any:
    """A tensor of rank 4 or 5, or the list of its sizes, with channels before space."""
    return _permuted(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]})


def NCHWToNHWC(input_tensor: Any) -> Any:
    """The way back from `NHWCToNCHW`."""
    return _permuted(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]})


def _sizes(value: Any) -> list[int]:
    return list(value.shape.as_list() if isinstance(value, Tensor) else value)


def NHWCToNCHW_VECT_C(input_shape_or_tensor: Any) -> Any:
    """Channels before space, four at a time last.

    Raises:
      ValueError: the number of channels is not divisible by 4.
    """
    sizes = _sizes(input_shape_or_tensor)
    if sizes[-1] % 4:
        raise ValueError(
            "Last dimension of input must be evenly divisible by 4 to convert to "
            f"NCHW_VECT_C; it is {sizes[-1]}."
        )
    sizes[-1:] = [sizes[-1] // 4, 4]
    orders = {5: [0, 3, 1, 2, 4], 6: [0, 4, 1, 2, 3, 5]}
    if isinstance(input_shape_or_tensor, Tensor):
        return _permuted(reshape(input_shape_or_tensor, sizes), orders)
    return _permuted(sizes, orders)


def NCHW_VECT_CToNHWC(input_shape_or_tensor: Any) -> Any:
    """The way back from `NHWCToNCHW_VECT_C`.

    Raises:
      ValueError: the last size is not 4.
    """
    sizes = _sizes(input_shape_or_tensor)
    if sizes[-1] != 4:
        raise ValueError(f"Last dimension of NCHW_VECT_C must be 4, not {sizes[-1]}.")
    orders = {5: [0, 2, 3, 1, 4], 6: [0, 2, 3, 4, 1, 5]}
    permuted = _permuted(sizes, orders)
    permuted[-2:] = [permuted[-2] * permuted[-1]]
    if isinstance(input_shape_or_tensor, Tensor):
        return reshape(_permuted(input_shape_or_tensor, orders), permuted)
    return permuted
