"""Collective operations as `tensorflow.python.ops.collective_ops` builds them.

Each of the `group_size` members of a group runs one of these, with equal keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape


def _check_group(what: str, group_size: int) -> None:
    if group_size <= 1:
        raise ValueError(
            f"Parameter group_size to {what} must be at least 2; it is {group_size}."
        )


def _check_device(tensor: Any) -> None:
    if not tensor.device:
        raise ValueError(
            f"Device assignment required for collective ops: {tensor.name} has none"
        )


def all_reduce(
    t: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    merge_op: str,
    final_op: str,
    subdiv_offsets: Sequence[int] = (0,),
    communication_hint: str = "auto",
) -> Any:
    """The tensors of all members, merged element by element.

    Args:
      t: this member's tensor, on a device.
      group_size: how many members there are.
      group_key, instance_key: of the group, and of this reduction in it.
      merge_op: "Add", "Mul", "Min" or "Max".
      final_op: "Id", or "Div" by the number of members.
      subdiv_offsets: offsets of the rings that run at a time.
      communication_hint: how to communicate.

    Raises:
      ValueError: the tensor has no device, or the group is no group.
    """
    _check_device(t)
    _check_group("all_reduce", group_size)
    return apply_op(
        "CollectiveReduce",
        input=t,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        merge_op=merge_op,
        final_op=final_op,
        subdiv_offsets=list(subdiv_offsets),
        communication_hint=communication_hint.lower(),
    )


def all_gather(
    t: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Any:
    """The tensors of all members, one after another along the first axis.

    Raises:
      ValueError: the tensor has no device, or the group is no group.
    """
    _check_device(t)
    _check_group("all_gather", group_size)
    shape = t.shape.as_list()
    return apply_op(
        "CollectiveGather",
        input=t,
        shape=[shape[0] * group_size, *shape[1:]],
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint.lower(),
    )


def broadcast_send(
    t: Any,
    shape: Any,
    dtype: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Any:
    """Sends a tensor to the other members, and returns it.

    Raises:
      ValueError: the tensor has no device, another shape or dtype, or the group is no
        group.
    """
    _check_device(t)
    _check_group("broadcast_send", group_size)
    if t.shape != TensorShape(shape):
        raise ValueError(f"Shape of broadcast tensor {t.shape} not equal to {shape}")
    if t.dtype != dtypes.as_dtype(dtype):
        raise ValueError(f"Type of broadcast tensor {t.dtype} not equal to {dtype}")
    return apply_op(
        "CollectiveBcastSend",
        input=t,
        shape=shape,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint.lower(),
    )


def broadcast_recv(
    shape: Any,
    dtype: Any,
    group_size: int,
    group_key: int,
    instance_key: int,
    communication_hint: str = "auto",
) -> Any:
    """The tensor that another member sends by `broadcast_send`.

    Raises:
      ValueError: the group is no group.
    """
    _check_group("broadcast_recv", group_size)
    return apply_op(
        "CollectiveBcastRecv",
        shape=shape,
        T=dtype,
        group_size=group_size,
        group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint.lower(),
    )
