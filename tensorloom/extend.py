"""What a program needs to extend tensorloom: ops, kernels, passes, devices and so on.

    from tensorloom.extend import register_op, kernel, graph_pass, device_kind

docs/extending.md shows each in a few lines. Nothing here loads torch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tensorloom.devices.cpu import CpuDevice
from tensorloom.devices.device import (
    Device,
    register_device_kind,
    unregister_device_kind,
)
from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_kernel import (
    OpKernelConstruction,
    OpKernelContext,
    host_kernel,
    kernel,
)
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    broadcast_binary_shape,
    no_outputs,
    scalar_shape,
    unchanged_shape,
    unknown_shapes,
)
from tensorloom.framework.runtime.custom_stages import (
    Plan,
    Wish,
    placed_pass,
    placer,
    remove_stage,
    schedule,
)
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.master.optimize import OptimizeTarget
from tensorloom.master.optimize.custom_passes import graph_pass, remove_graph_pass
from tensorloom.transport.memory.media import use as use_medium

__all__ = [
    "NOT_DIFFERENTIABLE",
    "CpuDevice",
    "Device",
    "GraphIR",
    "InferenceContext",
    "Node",
    "OpKernelConstruction",
    "OpKernelContext",
    "OptimizeTarget",
    "Plan",
    "TensorShape",
    "Wish",
    "apply_op",
    "broadcast_binary_shape",
    "device_kind",
    "graph_pass",
    "host_kernel",
    "kernel",
    "no_outputs",
    "placed_pass",
    "placer",
    "register_device_kind",
    "register_op",
    "remove_graph_pass",
    "remove_stage",
    "scalar_shape",
    "schedule",
    "unchanged_shape",
    "unknown_shapes",
    "unregister_device_kind",
    "use_medium",
]


@functools.wraps(op_registry.register_op)
def register_op(name: str, **description: Any) -> None:
    """See `op_registry.register_op`; a bad signature is an error at once."""
    op_registry.register_op(name, **description)
    op_registry.find(name)


DeviceClass = TypeVar("DeviceClass", bound=type[Device])


def device_kind(count: int = 1) -> Callable[[DeviceClass], DeviceClass]:
    """Gives sessions made from now on `count` devices of a class.

    The class names its kind in `device_type`, and in `kernel_type` the device type
    whose kernels it runs; it is made as `cls(task, index)`. A program that asks for
    fewer or more in `ConfigProto.device_count` gets as many.
    """

    def register(cls: DeviceClass) -> DeviceClass:
        def make(
            task: str, wanted: int | None, options: Mapping[str, Any]
        ) -> list[Device]:
            return [cls(task, i) for i in range(count if wanted is None else wanted)]

        register_device_kind(cls.device_type, make)
        return cls

    return register
