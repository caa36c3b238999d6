"""What ops and kernels there are, and libraries that bring more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.importing import load_library as libraries
from tensorloom.framework.registry import op_def_proto, op_kernel, op_registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tensorloom.framework.registry.op_kernel import KernelDef


def all_ops() -> bytes:
    """The serialized OpList of all ops, without those that the runtime adds itself."""
    ops = op_registry.registered_ops()
    listed = op_def_proto.to_op_list(ops.values())
    for proto in listed.op:
        proto.summary = ops[proto.name].doc.partition("\n")[0]
    return listed.SerializeToString()


def all_kernels() -> bytes:
    """The serialized KernelList of all kernels."""
    op_kernel.load_host_kernels()
    op_kernel.load_torch_kernels()
    return _kernel_list(sorted(op_registry.registered_ops()))


def kernels_of(op: str) -> bytes:
    """The serialized KernelList of an op; empty if there is none of that name."""
    op_kernel.load_torch_kernels(op)
    return _kernel_list([op])


def _kernel_list(ops: Iterable[str]) -> bytes:
    from tensorloom.protos.kernel_def_pb2 import KernelList

    kernels = KernelList()
    for op in ops:
        for device, definitions in _by_device(op).items():
            _add(kernels.kernel.add(), op, device, definitions)
    return kernels.SerializeToString()


def _by_device(op: str) -> dict[str, list[KernelDef]]:
    """The registrations that serve an op on each kind of device."""
    found: dict[str, list[KernelDef]] = {}
    for definition in op_kernel.registered_kernels(op):
        for device in definition.devices:
            found.setdefault(device, []).append(definition)
    return found


def _add(proto: Any, op: str, device: str, definitions: list[KernelDef]) -> None:
    """What an op takes on a device, by whichever of its registrations."""
    proto.op, proto.device_type = op, device
    names = set.intersection(*({*d.types} for d in definitions))
    for name in sorted(names):
        allowed = {dtype for d in definitions for dtype in d.types[name]}
        types = proto.constraint.add(name=name).allowed_values.list.type
        types.extend(sorted(dtype.as_datatype_enum for dtype in allowed))
    on_host = set.intersection(
        *({*d.host_inputs, *d.host_outputs} for d in definitions)
    )
    proto.host_memory_arg.extend(sorted(on_host))


def load_library(path: str) -> bytes:
    """Loads a shared library of ops and kernels; the serialized OpList of its ops.

    Raises:
      errors.NotFoundError: there is no such library, or it cannot be loaded.
    """
    serialized: bytes = libraries.load_op_library(path).OP_LIST.SerializeToString()
    return serialized
