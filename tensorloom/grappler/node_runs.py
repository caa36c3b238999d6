"""One run of each node of a graph, measured or simulated, and its messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.grappler.tensor_properties import byte_count, tensor_properties
from tensorloom.protos.op_performance_data_pb2 import OpPerformance
from tensorloom.protos.step_stats_pb2 import StepStats

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation


@dataclass(frozen=True, slots=True)
class NodeRun:
    """When a node ran, where, and for what part of that time."""

    operation: Operation
    device: str
    start_ns: int
    end_ns: int
    #: The estimated parts; 0 where the run was measured.
    compute_ns: float = 0.0
    memory_ns: float = 0.0

    @property
    def output_bytes(self) -> list[int]:
        """The size of each output; a reference to a variable takes nothing."""
        return [
            0 if tensor.dtype._is_ref_dtype else byte_count(tensor)
            for tensor in self.operation.outputs
        ]


def op_performance(run: NodeRun, device: Any) -> Any:
    """The `OpPerformance` of a run, times in nanoseconds, of whole microseconds.

    Args:
      device: the `DeviceProperties` that it tells.
    """
    operation = run.operation
    proto = OpPerformance(
        node=operation.name,
        compute_cost=_whole(run.end_ns - run.start_ns),
        compute_time=_whole(run.compute_ns),
        memory_time=_whole(run.memory_ns),
    )
    proto.op.op = operation.type
    for name, value in operation.node_def.attr.items():
        if not name.startswith("_"):
            proto.op.attr[name].CopyFrom(value)
    proto.op.inputs.extend(tensor_properties(tensor) for tensor in operation.inputs)
    proto.op.device.CopyFrom(device)
    proto.op_memory.output_memory.extend(run.output_bytes)
    return proto


def _whole(nanoseconds: float) -> int:
    return int(nanoseconds) // 1000 * 1000


def step_stats(runs: Iterable[NodeRun]) -> Any:
    """The `StepStats` of simulated runs, by device."""
    proto = StepStats()
    devices: dict[str, Any] = {}
    for run in runs:
        stats = devices.get(run.device)
        if stats is None:
            stats = devices[run.device] = proto.dev_stats.add(device=run.device)
        node = stats.node_stats.add(
            node_name=run.operation.name,
            timeline_label=run.operation.type,
            all_start_micros=run.start_ns // 1000,
            all_start_nanos=run.start_ns,
            op_end_rel_micros=(run.end_ns - run.start_ns) // 1000,
            op_end_rel_nanos=run.end_ns - run.start_ns,
            all_end_rel_micros=(run.end_ns - run.start_ns) // 1000,
            all_end_rel_nanos=run.end_ns - run.start_ns,
        )
        sizes = zip(run.operation.outputs, run.output_bytes, strict=True)
        for slot, (tensor, size) in enumerate(sizes):
            description = node.output.add(slot=slot).tensor_description
            description.dtype = tensor.dtype.as_datatype_enum
            description.shape.CopyFrom(tensor_properties(tensor).shape)
            description.allocation_description.requested_bytes = size
            description.allocation_description.allocated_bytes = size
    return proto
