"""`tensorflow.python.framework.kernels`: the kernels that there are, as KernelDefs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry import kernel_list

if TYPE_CHECKING:
    from tensorloom.protos.kernel_def_pb2 import KernelList


def get_all_registered_kernels() -> KernelList:
    """The kernels of all ops."""
    return kernel_list.all_kernels()


def get_registered_kernels_for_op(name: str) -> KernelList:
    """The kernels of an op, one for each kind of device; none for an unknown op."""
    return kernel_list.kernels_of(name)
