"""The key under which a tensor crosses from one device to another, as TensorFlow's."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tensorloom.framework import errors
from tensorloom.framework.devices import device_name

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node


def rendezvous_key(
    send_device: str,
    incarnation: int,
    recv_device: str,
    tensor_name: str,
    frame: int = 0,
    iteration: int = 0,
) -> str:
    """`SRC;INCARNATION;DST;EDGE;FRAME:ITER`, as TensorFlow spells it."""
    bits = incarnation & 0xFFFFFFFFFFFFFFFF
    return f"{send_device};{bits:016x};{recv_device};{tensor_name};{frame}:{iteration}"


def parse_rendezvous_key(key: str) -> tuple[str, int, str, str, str]:
    """(source device, incarnation, destination device, edge name, frame:iteration).

    Raises:
      errors.InvalidArgumentError: the key is malformed.
    """
    parts = key.split(";")
    if len(parts) == 5 and parts[3]:
        try:
            incarnation = int(parts[1], 16)
            device_name.parse_full(parts[0])
            device_name.parse_full(parts[2])
            return parts[0], incarnation, parts[2], parts[3], parts[4]
        except ValueError:
            pass
    raise errors.InvalidArgumentError(None, None, f"Invalid rendezvous key: {key}")


@lru_cache(10_000)
def source_task(key: str) -> str:
    """The task that a tensor comes from.

    Raises:
      ValueError: its device has no well-formed name.
    """
    return device_name.task_of(key.partition(";")[0])


@lru_cache(10_000)
def target_task(key: str) -> str:
    """The task that a tensor goes to.

    Raises:
      ValueError: its device has no well-formed name.
      IndexError: the key is malformed.
    """
    return device_name.task_of(key.split(";", 3)[2])


def key_of(node: Node) -> str:
    """The key of a Send or Recv outside of loops."""
    attrs = node.attrs
    return rendezvous_key(
        attrs["send_device"].decode(),
        attrs["send_device_incarnation"],
        attrs["recv_device"].decode(),
        attrs["tensor_name"].decode(),
    )
