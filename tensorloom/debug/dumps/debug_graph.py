"""A graph with a debugger's nodes, seen as the graph without them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tensorloom.framework.registry import op_registry
from tensorloom.protos.graph_pb2 import GraphDef

_COPY: Final = "__copy_"
_DEBUG: Final = "__dbg_"


def parse_node_or_tensor_name(name: str) -> tuple[str, int | None]:
    """`node` as (node, None), `node:1` as (node, 1)."""
    if ":" in name and not name.endswith(":"):
        node, _, slot = name.rpartition(":")
        return node, int(slot)
    return name, None


def get_node_name(element_name: str) -> str:
    """The node of a node's or tensor's name."""
    return parse_node_or_tensor_name(element_name)[0]


def get_output_slot(element_name: str) -> int:
    """The output of a tensor's name; 0 of a node's."""
    return parse_node_or_tensor_name(element_name)[1] or 0


def is_copy_node(node_name: str) -> bool:
    """Whether a debugger's copy of a tensor has this name."""
    return node_name.startswith(_COPY)


def is_debug_node(node_name: str) -> bool:
    """Whether a debug op that looks at a tensor has this name."""
    return node_name.startswith(_DEBUG)


def parse_debug_node_name(node_name: str) -> tuple[str, int, int, str]:
    """What `__dbg_node:0_1_DebugNanCount` says.

    Returns:
      The watched node, its output, the number of the debug op, and the op.

    Raises:
      ValueError: it is no such name.
    """
    if not is_debug_node(node_name):
        raise ValueError(f"Invalid prefix in debug node name: '{node_name}'")
    parts = node_name.removeprefix(_DEBUG).rsplit("_", 2)
    if len(parts) < 3:
        raise ValueError(f"Invalid debug node name: '{node_name}'")
    watched, number, op = parts
    if watched.count(":") != 1:
        raise ValueError(f"Invalid tensor name in debug node name: '{node_name}'")
    node, _, slot = watched.partition(":")
    return node, int(slot), int(number), op


class GraphTracingReachedDestination(Exception):
    """The walk has come where it was to go."""


class DFSGraphTracer:
    """Walks from a node to its inputs, and to theirs, each once."""

    def __init__(
        self,
        input_lists: Sequence[Mapping[str, Iterable[str]]],
        skip_node_names: Iterable[str] | None = None,
        destination_node_name: str | None = None,
    ) -> None:
        """Prepares a walk.

        Args:
          input_lists: the inputs of nodes, by node; there may be several kinds.
          skip_node_names: nodes beyond which it does not go.
          destination_node_name: where it ends.
        """
        self._input_lists = input_lists
        self._skipped = set(skip_node_names or ())
        self._destination = destination_node_name
        self._visited: set[str] = set()
        self._found: list[tuple[str, int]] = []  # (input, how far from the start)

    def trace(self, graph_element_name: str) -> None:
        """Walks.

        Raises:
          GraphTracingReachedDestination: it has reached the destination.
        """
        # (element, depth), the next one last: Python's own stack is too small for
        # long chains.
        pending = [(graph_element_name, 0)]
        while pending:
            element, depth = pending.pop()
            node = get_node_name(element)
            if node in self._visited:
                continue
            if depth:
                self._found.append((element, depth))
            if node == self._destination:
                raise GraphTracingReachedDestination
            self._visited.add(node)
            if node in self._skipped:
                continue
            inputs = [e for kind in self._input_lists for e in kind.get(node, ())]
            pending += [(e, depth + 1) for e in reversed(inputs)]

    def inputs(self) -> list[str]:
        """What it came by, in its order."""
        return [element for element, _ in self._found]

    def depth_list(self) -> list[int]:
        """How far from the start each of them is."""
        return [depth for _, depth in self._found]


def _infer_device_name(graph_def: Any) -> str | None:
    """The device of a device's graph: that of the first node that has one."""
    return next((node.device for node in graph_def.node if node.device), None)


class DebugGraph:
    """A graph that a debugger has put nodes into."""

    def __init__(self, debug_graph_def: Any, device_name: str | None = None) -> None:
        """Reads a graph.

        Args:
          debug_graph_def: of one device.
          device_name: its name; that of the first node with one, if it is None.

        Raises:
          ValueError: two nodes have one name.
        """
        self._debug_graph_def = debug_graph_def
        self._device_name = device_name or _infer_device_name(debug_graph_def)
        self._node_attributes: dict[str, Any] = {}
        self._node_inputs: dict[str, list[str]] = {}
        self._node_ctrl_inputs: dict[str, list[str]] = {}
        self._node_devices: dict[str, set[Any]] = {}
        self._node_op_types: dict[str, str] = {}
        self._non_debug_graph_def: Any = None
        copied = {
            node.name: node.input[0]
            for node in debug_graph_def.node
            if is_copy_node(node.name)
        }
        # What stands in a tensor's way gives the tensor, too.
        copied |= {
            node.name: copied.get(node.input[0], node.input[0])
            for node in debug_graph_def.node
            if is_debug_node(node.name) and node.input
        }
        for node in debug_graph_def.node:
            if not is_copy_node(node.name) and not is_debug_node(node.name):
                self._add(node, copied)
        self._connect()

    def _add(self, node: Any, copied: Mapping[str, str]) -> None:
        name = node.name
        if name in self._node_inputs:
            raise ValueError(
                f"Duplicate node name on device {self._device_name}: '{name}'"
            )
        self._node_attributes[name] = node.attr
        self._node_devices[name] = {node.device or self._device_name}
        self._node_op_types[name] = node.op
        self._node_inputs[name] = [
            copied.get(e, e) for e in node.input if not e.startswith("^")
        ]
        self._node_ctrl_inputs[name] = [
            e[1:]
            for e in node.input
            if e.startswith("^") and not is_debug_node(e[1:]) and e[1:] not in copied
        ]

    def _connect(self) -> None:
        recipients: dict[str, list[str]] = {name: [] for name in self._node_inputs}
        controlled: dict[str, list[str]] = {name: [] for name in self._node_inputs}
        reversed_refs: dict[str, list[str]] = {}
        for name, inputs in self._node_inputs.items():
            for element in inputs:
                source = get_node_name(element)
                recipients.setdefault(source, []).append(name)
                if self._is_reference(source, get_output_slot(element)):
                    reversed_refs.setdefault(source, []).append(name)
            for source in self._node_ctrl_inputs[name]:
                controlled.setdefault(source, []).append(name)
        self._node_recipients = recipients
        self._node_ctrl_recipients = controlled
        self._node_reversed_ref_inputs = reversed_refs

    def _is_reference(self, node: str, slot: int) -> bool:
        op_def = op_registry.find(self._node_op_types.get(node, ""))
        outputs = () if op_def is None else op_def.outputs
        return slot < len(outputs) and outputs[slot].is_ref

    @property
    def device_name(self) -> Any:
        """The device."""
        return self._device_name

    @property
    def debug_graph_def(self) -> Any:
        """The `GraphDef` with the debugger's nodes."""
        return self._debug_graph_def

    @property
    def non_debug_graph_def(self) -> Any:
        """The `GraphDef` without them."""
        if self._non_debug_graph_def is None:
            made = self._non_debug_graph_def = GraphDef()
            for node in self._debug_graph_def.node:
                if node.name not in self._node_inputs:
                    continue
                new = made.node.add()
                new.CopyFrom(node)
                del new.input[:]
                new.input.extend(self._node_inputs[node.name])
                new.input.extend(f"^{n}" for n in self._node_ctrl_inputs[node.name])
        return self._non_debug_graph_def

    @property
    def node_devices(self) -> dict[str, set[Any]]:
        """The devices of each node."""
        return self._node_devices

    @property
    def node_op_types(self) -> dict[str, str]:
        """The op of each node."""
        return self._node_op_types

    @property
    def node_attributes(self) -> dict[str, Any]:
        """The attrs of each node, by their names."""
        return self._node_attributes

    @property
    def node_inputs(self) -> dict[str, list[str]]:
        """The inputs of each node, but for control inputs."""
        return self._node_inputs

    @property
    def node_ctrl_inputs(self) -> dict[str, list[str]]:
        """The control inputs of each node."""
        return self._node_ctrl_inputs

    @property
    def node_reversed_ref_inputs(self) -> dict[str, list[str]]:
        """Of each variable the nodes that may write to it."""
        return self._node_reversed_ref_inputs

    @property
    def node_recipients(self) -> dict[str, list[str]]:
        """Who takes an output of each node, once for each input."""
        return self._node_recipients

    @property
    def node_ctrl_recipients(self) -> dict[str, list[str]]:
        """Who waits for each node."""
        return self._node_ctrl_recipients


def reconstruct_non_debug_graph_def(debug_graph_def: Any) -> Any:
    """The `GraphDef` of a debugged step without the debugger's nodes.

    Nodes that the runtime adds, such as `_Send`, may have other names than in a step
    without a debugger, and `parallel_iterations` of loops is 1.
    """
    return DebugGraph(debug_graph_def).non_debug_graph_def
