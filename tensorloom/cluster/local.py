"""Local mode: a master and a worker in this process, for each session its own.

This is the place where the layers meet: the placer and the constant folder of the
master get the devices and the kernels here, which they may not import.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tensorloom.client.session.master_factory import register_master_factory
from tensorloom.devices import cpu, cuda, host_allocator, torch_loading
from tensorloom.devices.device import make_devices
from tensorloom.framework.registry import kept_index, op_kernel, op_registry
from tensorloom.framework.registry.package_modules import import_all
from tensorloom.framework.runtime import intra_op
from tensorloom.framework.types import constant_value
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.master.run.directory import FixedWorkers
from tensorloom.master.run.master import Master, MasterEnvironment
from tensorloom.worker.compile.dataflow_nodes import CLASSIC_OPS
from tensorloom.worker.compile.emitter import STRUCTURE
from tensorloom.worker.run.worker import Worker

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.runtime.session_config import SessionConfig

# Importing them registers the kinds of device.
_ = cpu, cuda

LOCAL_TASK = "/job:localhost/replica:0/task:0"


def make_local_master(target: str, config: SessionConfig) -> Master:
    """A master with one in-process worker that has this machine's devices."""
    if config.intra_op_parallelism_threads > 0:
        intra_op.set_limit(config.intra_op_parallelism_threads)
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(config.intra_op_parallelism_threads)
    devices = make_devices(LOCAL_TASK, config.device_count, config.device_options())
    return Master(FixedWorkers([_LocalWorker(LOCAL_TASK, devices)]), environment())


class _LocalWorker(Worker):
    """A worker of one session: what the session leaves behind is of no use to anyone.

    Closing its resources ends the threads of pipelines and frees variables.
    """

    def delete_session(self, session: str) -> None:
        super().delete_session(session)
        self.cleanup_all(())


def environment() -> MasterEnvironment:
    """What the passes of this process's masters need."""
    return MasterEnvironment(evaluate, has_kernel)


def evaluate(node: Node, inputs: Sequence[Any]) -> Sequence[Any] | None:
    """A node's outputs from constant inputs, by its host kernel; None without one."""
    shapes = [TensorShape.of(tuple(value.shape)) for value in inputs]
    return constant_value.evaluate_node(node, list(inputs), shapes)


def has_kernel(node: Node, device_type: str) -> bool:
    """Whether a node can run on a device type.

    On a CPU the answer comes without torch wherever there is a host kernel.
    """
    if node.op in STRUCTURE or node.op in CLASSIC_OPS:
        return True  # structure runs wherever its piece does
    if op_registry.find(node.op) is None:
        return True  # a function call, too
    if any(op_kernel.find_kernels(node.op, node.attrs, device_type)):
        return True
    op_kernel.load_torch_kernels(node.op)
    return any(op_kernel.find_kernels(node.op, node.attrs, device_type))


def host_kernels() -> dict[str, str]:
    """The modules of the kernels of host memory, by op."""
    from tensorloom.kernels import host

    host_allocator.keep_freed_memory()
    return _kernel_index(host)


def torch_kernels() -> dict[str, str]:
    """The modules of the kernels over torch tensors, by op. Imports torch."""
    torch_loading.import_torch()
    from tensorloom.kernels import torch
    from tensorloom.kernels.torch.state import early_arrays

    early_arrays.make_tensors()
    return _kernel_index(torch)


def _kernel_index(package: ModuleType) -> dict[str, str]:
    """The module that registers each op's kernels; the first call imports all."""

    def made() -> dict[str, str]:
        import_all(package)
        return op_kernel.places(f"{package.__name__}.")

    folder = Path(package.__path__[0])
    return kept_index.read_or_make(folder, "kernels", [""], made, dict)


op_kernel.set_kernel_loaders(host_kernels, torch_kernels)
# Local mode is what an empty session target means.
register_master_factory("", make_local_master)
