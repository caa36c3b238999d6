"""Reductions among the GPUs of a process, as TensorFlow's `nccl_ops` has them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

from tensorloom.framework.graph.graph import device
from tensorloom.framework.registry.op_def_library import apply_op

_counter: Final = itertools.count()


def all_sum(tensors: Sequence[Any]) -> list[Any]:
    """The sum of the tensors, on the device of each.

    A step that wants one of the results waits for all.

    Args:
      tensors: of one shape and dtype; each on a device of its own.

    Raises:
      ValueError: there are none, or one has no device.
    """
    return _on_each("sum", tensors)


def all_prod(tensors: Sequence[Any]) -> list[Any]:
    """The product of the tensors, on the device of each; see `all_sum`."""
    return _on_each("prod", tensors)


def all_min(tensors: Sequence[Any]) -> list[Any]:
    """The smallest of the tensors, on the device of each; see `all_sum`."""
    return _on_each("min", tensors)


def all_max(tensors: Sequence[Any]) -> list[Any]:
    """The largest of the tensors, on the device of each; see `all_sum`."""
    return _on_each("max", tensors)


def reduce_sum(tensors: Sequence[Any]) -> Any:
    """The sum of the tensors, on the device that is current.

    Raises:
      ValueError: there are none, one has no device, or none is on the current device.
    """
    _check_some(tensors, "reduce")
    for tensor in tensors:
        _device_of(tensor)
    result = apply_op("NcclReduce", input=list(tensors), reduction="sum")
    if not any(tensor.device == result.device for tensor in tensors):
        raise ValueError("One input tensor must be assigned to current device")
    return result


def broadcast(tensor: Any) -> Any:
    """The tensor, to be read on other devices.

    Raises:
      ValueError: the tensor has no device.
    """
    with device(_device_of(tensor)):
        return apply_op("NcclBroadcast", input=tensor, shape=tensor.shape)


def _on_each(reduction: str, tensors: Sequence[Any]) -> list[Any]:
    _check_some(tensors, "all reduce")
    shared_name = f"c{next(_counter)}"
    results = []
    for tensor in tensors:
        with device(_device_of(tensor)):
            results.append(
                apply_op(
                    "NcclAllReduce",
                    input=tensor,
                    reduction=reduction,
                    num_devices=len(tensors),
                    shared_name=shared_name,
                )
            )
    return results


def _check_some(tensors: Sequence[Any], what: str) -> None:
    if not tensors:
        raise ValueError(f"Must pass >0 tensors to {what} operations")


def _device_of(tensor: Any) -> str:
    if not tensor.device:
        raise ValueError(
            f"Device assignment required for nccl collective ops: {tensor}"
        )
    name: str = tensor.device
    return name
