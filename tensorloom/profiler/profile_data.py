"""All that a profile knows: the nodes of graphs, and the steps that were traced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tensorloom.profiler.node_profile import (
    Frame,
    NodeProfile,
    is_accelerator,
)
from tensorloom.protos.tfprof_log_pb2 import CodeDef, OpLogProto, ProfileProto

# Nodes of the runtime that come under many devices, and are left out.
_LEFT_OUT: Final = ("RecvTensor", "_SOURCE")
_NO_STREAMS: Final = (
    "\n\nFound accelerator operation but misses accelerator stream stats!\n\n"
    "It's likely a gpu tracing issue rather than tf-profiler issue.\n"
    "If you found your operation missing accelerator time, "
    "consider filing a bug to xprof-dev@!\n\n"
)


class ProfileData:
    """The nodes by name, in the order of their names where a report lists them."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeProfile] = {}
        self.steps: set[int] = set()
        self.has_code = False
        self._strings: dict[int, str] = {}
        self._covered: set[str] = set()
        self._misses_streams = False

    def ordered_nodes(self) -> list[NodeProfile]:
        """The nodes, by name."""
        return [self.nodes[name] for name in sorted(self.nodes)]

    def _add_node(self, name: str, op: str) -> NodeProfile:
        node = NodeProfile(len(self.nodes), name, op)
        self.nodes[name] = node
        return node

    def add_graph(self, graph_def: Any) -> None:
        """Adds the nodes of a GraphDef that are not known yet."""
        for node_def in graph_def.node:
            if node_def.name not in self.nodes:
                self._add_node(node_def.name, node_def.op).add_def(node_def)

    def add_step(self, step: int, run_meta: Any) -> None:
        """Adds RunMetadata: what nodes took, of one step or of a part of one."""
        self.steps.add(step)
        devices = [stats.device.lower() for stats in run_meta.step_stats.dev_stats]
        if any(map(is_accelerator, devices)) and not any(
            "stream:all" in device for device in devices
        ):
            self._misses_streams = True
        for device_stats in run_meta.step_stats.dev_stats:
            for stats in device_stats.node_stats:
                name = stats.node_name.partition(":")[0]
                node = self.nodes.get(name)
                if node is not None:
                    self._covered.add(name)
                elif name in _LEFT_OUT or "MEMCPY" in name:
                    continue
                else:
                    node = self._add_node(name, name)
                node.add_stats(step, device_stats.device, stats)

    def add_op_log(self, op_log: OpLogProto) -> None:
        """Adds types, floating-point operations and stacks of nodes."""
        for number, text in op_log.id_to_string.items():
            self._strings.setdefault(number, text)
        for entry in op_log.log_entries:
            node = self.nodes.get(entry.name)
            if node is None:
                continue
            node.types.update(entry.types)
            if entry.float_ops:
                node.static_float_ops = entry.float_ops
            if entry.HasField("code_def"):
                self.has_code = True
                if node.code is None:
                    self._add_code(node, entry.code_def)

    def _add_code(self, node: NodeProfile, code: CodeDef) -> None:
        node.code = code
        node.frames = [
            Frame(
                trace.file or self._strings.get(trace.file_id, ""),
                trace.lineno,
                trace.function or self._strings.get(trace.function_id, ""),
                trace.func_start_line,
            )
            for trace in code.traces
        ]

    @property
    def coverage(self) -> float:
        """The part of the nodes that the steps ran."""
        return len(self._covered) / (len(self.nodes) + 1e-10)

    def warning(self) -> str:
        """What a report has to say first: times of GPUs may be missing."""
        return _NO_STREAMS if self._misses_streams else ""

    def input_shapes(self, node: NodeProfile) -> dict[int, list[int]]:
        """The static shapes of a node's inputs; [] where it is not known."""
        found: dict[int, list[int]] = {}
        for index, name in node.inputs.items():
            source = self.nodes.get(name)
            output = node.source_outputs[name]
            found[index] = source.output_shapes.get(output, []) if source else []
        return found

    def restore(self, nodes: Iterable[NodeProfile], message: ProfileProto) -> None:
        """Takes nodes of a saved profile, and what else it knows."""
        self.nodes = {node.name: node for node in nodes}
        self.steps.update(message.steps)
        self.has_code = message.has_trace
        self._misses_streams = message.miss_accelerator_stream
        self._strings.update(message.id_to_string)
        for node in self.nodes.values():
            saved = message.nodes[node.number]
            if saved.HasField("trace"):
                self._add_code(node, saved.trace)
            if node.executions:
                self._covered.add(node.name)

    def to_proto(self) -> ProfileProto:
        """All of it as a message, for the tools that read profiles."""
        message = ProfileProto(
            has_trace=self.has_code,
            miss_accelerator_stream=self._misses_streams,
            steps=sorted(self.steps),
        )
        numbers = {name: node.number for name, node in self.nodes.items()}
        for number, text in self._strings.items():
            message.id_to_string[number] = text
        for node in self.nodes.values():
            message.nodes[node.number].CopyFrom(node.to_proto(numbers))
        return message
