"""What ops and kernels there are, and libraries that bring more."""

from __future__ import annotations

from tensorloom.client.importing import load_library as libraries
from tensorloom.framework.registry import kernel_list, op_def_proto, op_registry


def all_ops() -> bytes:
    """The serialized OpList of all ops, without those that the runtime adds itself."""
    ops = op_registry.registered_ops()
    listed = op_def_proto.to_op_list(ops.values())
    for proto in listed.op:
        proto.summary = ops[proto.name].doc.partition("\n")[0]
    return listed.SerializeToString()


def all_kernels() -> bytes:
    """The serialized KernelList of all kernels."""
    return kernel_list.all_kernels().SerializeToString()


def kernels_of(op: str) -> bytes:
    """The serialized KernelList of an op; empty if there is none of that name."""
    return kernel_list.kernels_of(op).SerializeToString()


def load_library(path: str) -> bytes:
    """Loads a shared library of ops and kernels; the serialized OpList of its ops.

    Raises:
      errors.NotFoundError: there is no such library, or it cannot be loaded.
    """
    serialized: bytes = libraries.load_op_library(path).OP_LIST.SerializeToString()
    return serialized
