"""What is known of one node: its place in the graph, and what it cost in each step.

Times of a GPU come under three devices in RunMetadata: `gpu:0` is when the node was
scheduled, `gpu:0/stream:all` when its kernels ran, and `stream:1`, ... are parts of
that. On a CPU there is `cpu:0` alone.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from tensorloom.protos.tensor_shape_pb2 import TensorShapeProto
from tensorloom.protos.tfprof_log_pb2 import ExecMemory, ExecProfile, ProfileNode

# What a node has of its own, and a report adds up.
COSTS: Final = (
    *("exec_micros", "accelerator_exec_micros", "cpu_exec_micros"),
    *("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes"),
    *("parameters", "float_ops"),
)
_OF_EXECUTIONS: Final = ("run_count", *COSTS[:7])
_SCHEDULED: Final = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu|device:sycl):\d+")
_ACCELERATORS: Final = ("gpu", "sycl")


def is_device(name: str) -> bool:
    """Whether this is where nodes are scheduled, and not a stream of a GPU."""
    return _SCHEDULED.fullmatch(name) is not None


def is_accelerator(name: str) -> bool:
    """Whether a device is a GPU or the like."""
    return any(kind in name for kind in _ACCELERATORS)


class Frame(NamedTuple):
    """A line of Python that called another, or made a node."""

    file: str
    line: int
    function: str
    first_line: int


class Execution:
    """A node's runs in one step: many in a loop."""

    def __init__(self, saved: ExecProfile | None = None) -> None:
        self.message = ExecProfile()
        if saved is not None:
            self.message.CopyFrom(saved)

    def add(self, device: str, stats: Any, is_at_home: bool) -> None:
        """Adds NodeExecStats; `is_at_home`: the device is the node's own."""
        known = self.message
        if device not in known.devices:
            known.devices.append(device)
        if stats.all_start_micros <= 0:
            return
        start, taken = stats.all_start_micros, stats.op_end_rel_micros or 1
        first = known.all_start_micros
        known.all_start_micros = min(first, start) if first else start
        known.latest_end_micros = max(known.latest_end_micros, start + taken)
        if "stream:all" in device:
            times = known.accelerator_execs[device].times
            times.add(int64_values=[start, taken])
        elif is_device(device):
            known.cpu_execs[device].times.add(int64_values=[start, taken])
            known.run_count += 1
        if is_at_home:
            self._add_memory(device, stats)

    def _add_memory(self, device: str, stats: Any) -> None:
        memory = ExecMemory(
            memory_micros=stats.all_start_micros + stats.op_end_rel_micros
        )
        for used in stats.memory:
            memory.residual_bytes += used.live_bytes
            memory.requested_bytes += used.total_bytes
            memory.peak_bytes += used.peak_bytes
            if "GPU" in used.allocator_name:
                memory.allocator_bytes_in_use = max(
                    memory.allocator_bytes_in_use, used.allocator_bytes_in_use
                )
                self.message.allocations.extend(used.allocation_records)
        for output in stats.output:
            if output.tensor_description.HasField("allocation_description"):
                allocation = output.tensor_description.allocation_description
                size = max(allocation.allocated_bytes, allocation.requested_bytes)
                memory.output_bytes += size
                memory.output_memory[output.slot].ptr = allocation.ptr
                memory.output_memory[output.slot].bytes = size
        if stats.HasField("memory_stats"):
            kept = stats.memory_stats.persistent_memory_size
            briefly = stats.memory_stats.temp_memory_size
            if "cpu" in device:
                memory.host_temp_bytes = briefly
                memory.host_persistent_bytes = kept
            else:
                memory.accelerator_temp_bytes = briefly
                memory.accelerator_persistent_bytes = kept
            memory.residual_bytes += kept
            memory.requested_bytes += kept + briefly
            memory.peak_bytes += kept + briefly
        self.message.memory_execs.append(memory)

    def times(self, is_on_accelerator: bool) -> dict[str, list[tuple[int, int]]]:
        """(start, duration) of the runs on each device, in microseconds."""
        of_devices = (
            self.message.accelerator_execs
            if is_on_accelerator
            else self.message.cpu_execs
        )
        return {
            device: [(time.int64_values[0], time.int64_values[1]) for time in its.times]
            for device, its in sorted(of_devices.items())
        }

    def costs(self) -> dict[str, int]:
        """Microseconds and bytes of all runs together, and how many runs there were."""
        found = {"run_count": self.message.run_count}
        for name, flag in (("accelerator", True), ("cpu", False)):
            found[f"{name}_exec_micros"] = sum(
                taken for runs in self.times(flag).values() for _, taken in runs
            )
        found["exec_micros"] = (
            found["accelerator_exec_micros"] + found["cpu_exec_micros"]
        )
        for name in ("requested", "peak", "residual", "output"):
            key = f"{name}_bytes"
            found[key] = sum(getattr(one, key) for one in self.message.memory_execs)
        return found


class NodeProfile:
    """A node of the graph, or of the runtime, and what it cost.

    Args:
      number: the node's number in a saved profile; -1 for what stands for no node.
      name: its name.
      op: the op's type.
    """

    def __init__(self, number: int, name: str, op: str) -> None:
        self.number = number
        self.name = name
        self.op = op
        self.types: set[str] = {op}
        self.attrs: dict[str, Any] = {}
        self.shape: list[int] = []
        self.output_shapes: dict[int, list[int]] = {}
        # Of each input: the node's name, and which of its outputs.
        self.inputs: dict[int, str] = {}
        self.source_outputs: dict[str, int] = {}
        self.static_float_ops = 0
        self.device = ""
        self.frames: list[Frame] = []
        self.code: Any = None
        self.executions: dict[int, Execution] = defaultdict(Execution)

    def add_def(self, node_def: Any) -> None:
        """Takes attrs and shapes of a NodeDef, and what its inputs are."""
        for name, value in node_def.attr.items():
            self.attrs[name] = value
            if name == "shape" and value.HasField("shape"):
                self.shape = sizes(value.shape)
            elif name == "_output_shapes" and value.HasField("list"):
                shapes = enumerate(value.list.shape)
                self.output_shapes = {index: sizes(shape) for index, shape in shapes}
        for index, text in enumerate(node_def.input):
            source, _, output = text.removeprefix("^").partition(":")
            self.inputs[index] = source
            self.source_outputs[source] = int(output or 0)

    def add_stats(self, step: int, device: str, stats: Any) -> None:
        """Adds the node's NodeExecStats of a step on a device."""
        device = device.lower()
        if is_device(device):
            if self.device and self.device != device:
                return  # of nodes that come under several devices, the first counts
            if not self.device:
                self.device = device
                self.types.add(device)
        self.executions[step].add(device, stats, device == self.device)

    @property
    def host_device(self) -> str:
        """The CPU that schedules the node."""
        return re.sub(r"(device:sycl|gpu):\d+", "cpu:0", self.device)

    @property
    def parameters(self) -> int:
        """How many numbers a variable has; 0 for other nodes."""
        if not self.shape or min(self.shape) < 0:
            return 0
        return math.prod(self.shape)

    def costs(self, step: int) -> dict[str, int]:
        """`COSTS` and "run_count" of a step; of -1, the average over all steps."""
        if step >= 0:
            chosen = [self.executions[step]] if step in self.executions else []
            count = 1
        else:
            chosen = list(self.executions.values())
            count = max(1, len(chosen))
        of_steps = [execution.costs() for execution in chosen]
        found = {
            name: sum(costs[name] for costs in of_steps) // count
            for name in _OF_EXECUTIONS
        }
        found["parameters"] = self.parameters
        found["float_ops"] = self.static_float_ops
        if self.executions:
            found["float_ops"] *= found["run_count"]
        return found

    def is_traced(self, step: int) -> bool:
        """Whether a timeline can show it: a step ran it, at a known time and place."""
        execution = self.executions.get(step)
        return (
            execution is not None
            and execution.message.all_start_micros > 0
            and bool(self.device)
        )

    def to_proto(self, numbers: dict[str, int]) -> ProfileNode:
        """The node as a message; `numbers` of the nodes by name."""
        message = ProfileNode(
            name=self.name,
            op=self.op,
            id=self.number,
            shape=self.shape,
            op_types=sorted(self.types),
            canonical_device=self.device,
            host_device=self.host_device,
            float_ops=self.static_float_ops,
        )
        for name, value in self.attrs.items():
            message.attrs[name].CopyFrom(value)
        for step, execution in self.executions.items():
            message.execs[step].CopyFrom(execution.message)
        for index, name in self.inputs.items():
            message.inputs[index] = numbers[name]
        for name, output in self.source_outputs.items():
            message.src_output_index[numbers[name]] = output
        for output, shape in self.output_shapes.items():
            message.output_shapes[output].int64_values.extend(shape)
        if self.code is not None:
            message.trace.CopyFrom(self.code)
        return message


def sizes(shape: TensorShapeProto) -> list[int]:
    """The sizes in a shape's message: [1] of a scalar, [] if the rank is unknown."""
    if not shape.dim and not shape.unknown_rank:
        return [1]
    return [dim.size for dim in shape.dim]


def shape_message(shape: Sequence[int]) -> TensorShapeProto:
    """The message of sizes as `sizes` gives them."""
    message = TensorShapeProto(unknown_rank=not shape)
    for size in shape:
        message.dim.add(size=size)
    return message
