"""The kernels that there are as KernelDef messages: for each op and kind of device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry import op_kernel, op_registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tensorloom.framework.registry.op_kernel import KernelDef
    from tensorloom.protos.kernel_def_pb2 import KernelList


def all_kernels() -> KernelList:
    """The kernels of all ops."""
    op_kernel.load_host_kernels()
    op_kernel.load_torch_kernels()
    return _kernel_list(sorted(op_registry.registered_ops()))


def kernels_of(op: str) -> KernelList:
    """The kernels of an op; none if there is none of that name."""
    op_kernel.load_torch_kernels(op)
    return _kernel_list([op])


def _kernel_list(ops: Iterable[str]) -> KernelList:
    from tensorloom.protos.kernel_def_pb2 import KernelList

    kernels = KernelList()
    for op in ops:
        for device, definitions in _by_device(op).items():
            _add(kernels.kernel.add(), op, device, definitions)
    return kernels


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
