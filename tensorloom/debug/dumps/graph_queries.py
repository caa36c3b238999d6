"""What a dump tells of the graphs that ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorloom.debug.dumps.debug_graph import (
    DebugGraph,
    DFSGraphTracer,
    GraphTracingReachedDestination,
    get_node_name,
)


class GraphQueries:
    """The part of `DebugDumpDir` that asks the graphs of the devices."""

    def __init__(self) -> None:
        self._device_names: list[str] = []
        self._debug_graphs: dict[Any, DebugGraph] = {}
        self._python_graph: Any = None
        self._tracebacks: dict[str, Any] = {}

    # --- devices and graphs ----------------------------------------------------------

    def devices(self) -> list[str]:
        """The names of the devices."""
        return self._device_names

    def loaded_partition_graphs(self) -> bool:
        """Whether the graphs of the devices are known."""
        return bool(self._debug_graphs)

    def partition_graphs(self) -> list[Any]:
        """The `GraphDef` of each device, with the debugger's nodes.

        Raises:
          LookupError: none was loaded.
        """
        return [graph.debug_graph_def for graph in self._graphs().values()]

    def reconstructed_non_debug_partition_graphs(self) -> dict[str, Any]:
        """By device its `GraphDef` without the debugger's nodes."""
        return {k: graph.non_debug_graph_def for k, graph in self._debug_graphs.items()}

    def _graphs(self, message: str = "") -> Mapping[Any, DebugGraph]:
        if not self._debug_graphs:
            raise LookupError(message or "No partition graphs have been loaded.")
        return self._debug_graphs

    def _graph_with(
        self, node_name: str, device_name: str | None, what: str = ""
    ) -> DebugGraph:
        message = f"{what} are not loaded from partition graphs yet." if what else ""
        graphs = self._graphs(message)
        return graphs[self._infer_device_name(device_name, node_name)]

    def _infer_device_name(self, device_name: str | None, node_name: str) -> str:
        """The device of a node.

        Raises:
          ValueError: there is no such device or node; several devices have it.
        """
        if device_name is not None:
            if device_name not in self._device_names:
                raise ValueError(f"Invalid device name: {device_name}")
            return device_name
        if len(self._device_names) == 1 and not self._debug_graphs:
            return self._device_names[0]
        node = get_node_name(node_name)
        found = [k for k, graph in self._debug_graphs.items() if self._has(graph, node)]
        if not found:
            raise ValueError(
                f"None of the {len(self._device_names)} device(s) has a node named "
                f"'{node_name}'."
            )
        if len(found) > 1:
            raise ValueError(
                f"There are multiple ({len(found)}) devices with nodes named "
                f"'{node_name}' but device_name is not specified."
            )
        return str(found[0])

    @staticmethod
    def _has(graph: DebugGraph, node: str) -> bool:
        return node in graph.node_inputs

    # --- nodes -----------------------------------------------------------------------

    def nodes(self, device_name: str | None = None) -> list[str]:
        """The names of all nodes, or of those of a device.

        Raises:
          LookupError: no graph was loaded.
          ValueError: there is no such device.
        """
        graphs = self._graphs()
        if device_name is None:
            return [name for graph in graphs.values() for name in graph.node_inputs]
        if device_name not in graphs:
            raise ValueError(f"Invalid device name: {device_name}")
        return list(graphs[device_name].node_inputs)

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        """Whether there is a node, on any device or that one.

        Raises:
          LookupError: no graph was loaded.
          ValueError: there is no such device.
        """
        graphs = self._graphs("Nodes have not been loaded from partition graphs yet.")
        if device_name is None:
            return any(node_name in graph.node_inputs for graph in graphs.values())
        if device_name not in graphs:
            raise ValueError(
                f"The specified device_name '{device_name}' cannot be found."
            )
        return node_name in graphs[device_name].node_inputs

    def node_device(self, node_name: str) -> Any:
        """The device of a node; a list if several have one of that name.

        Raises:
          LookupError: no graph was loaded.
          ValueError: there is no such node.
        """
        message = "Node devices are not loaded from partition graphs yet."
        found = {
            device
            for graph in self._graphs(message).values()
            for device in graph.node_devices.get(node_name, ())
        }
        if not found:
            raise ValueError(f"Node '{node_name}' does not exist in partition graphs.")
        return next(iter(found)) if len(found) == 1 else sorted(found)

    def node_attributes(self, node_name: str, device_name: str | None = None) -> Any:
        """The attrs of a node.

        Raises:
          LookupError: no graph was loaded.
          ValueError: the device cannot be told.
        """
        return self._graph_with(node_name, device_name).node_attributes[node_name]

    def node_op_type(self, node_name: str, device_name: str | None = None) -> str:
        """The op of a node. Raises as `node_attributes`."""
        graph = self._graph_with(node_name, device_name, "Node op types")
        return graph.node_op_types[node_name]

    def node_inputs(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        """The inputs of a node, or its control inputs. Raises as `node_attributes`."""
        graph = self._graph_with(node_name, device_name, "Node inputs")
        return (graph.node_ctrl_inputs if is_control else graph.node_inputs)[node_name]

    def node_recipients(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        """Who takes outputs of a node, or waits for it. Raises as `node_attributes`."""
        graph = self._graph_with(node_name, device_name, "Node recipients")
        by_node = graph.node_ctrl_recipients if is_control else graph.node_recipients
        return by_node[node_name]

    # --- paths -----------------------------------------------------------------------

    def transitive_inputs(
        self,
        node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str]:
        """All that a node depends on, up to a Merge.

        Args:
          include_control: also by control inputs.
          include_reversed_ref: also from a variable to what writes to it.

        Raises:
          LookupError, ValueError: as `node_attributes`.
        """
        graph = self._graph_with(node_name, device_name, "Node inputs")
        edges = _edges(graph, include_control, include_reversed_ref)
        tracer = DFSGraphTracer(edges, _merges(graph))
        tracer.trace(node_name)
        return tracer.inputs()

    def find_some_path(
        self,
        src_node_name: str,
        dst_node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str] | None:
        """A path from a node to one that depends on it; None where there is none.

        Raises:
          ValueError: they are on different devices.
        """
        source = self._infer_device_name(device_name, src_node_name)
        target = self._infer_device_name(device_name, dst_node_name)
        if source != target:
            raise ValueError(
                f"Source ({src_node_name}) and destination ({dst_node_name}) are not "
                f"on the same device: {source} vs. {target}"
            )
        graph = self._graphs()[target]
        edges = _edges(graph, include_control, include_reversed_ref)
        tracer = DFSGraphTracer(edges, _merges(graph), get_node_name(src_node_name))
        try:
            tracer.trace(dst_node_name)
        except GraphTracingReachedDestination:
            inputs = [dst_node_name, *tracer.inputs()]
            depths = [0, *tracer.depth_list()]
            path, depth = [], depths[-1]
            for element, there in zip(reversed(inputs), reversed(depths), strict=True):
                if there == depth:
                    path.append(element)
                    depth -= 1
            return path
        return None

    # --- the program -----------------------------------------------------------------

    def set_python_graph(self, python_graph: Any) -> None:
        """Says which `tf.Graph` ran: it knows the lines that made its nodes."""
        self._python_graph = python_graph
        operations = python_graph.get_operations() if python_graph is not None else ()
        self._tracebacks = {op.name: op for op in operations}

    @property
    def python_graph(self) -> Any:
        """The `tf.Graph`, or None."""
        return self._python_graph

    def node_traceback(self, element_name: str) -> Any:
        """The stack that made a node, or the node of a tensor.

        Raises:
          LookupError: no `tf.Graph` was given.
          KeyError: it has no such node.
        """
        if self._python_graph is None:
            raise LookupError("Python graph is not available for traceback lookup")
        node_name = get_node_name(element_name)
        if node_name not in self._tracebacks:
            raise KeyError(f'Cannot find node "{node_name}" in Python graph')
        return tuple(self._tracebacks[node_name].traceback)


def _edges(
    graph: DebugGraph, control: bool, reversed_ref: bool
) -> list[dict[str, list[str]]]:
    edges = [graph.node_inputs]
    if control:
        edges.append(graph.node_ctrl_inputs)
    if reversed_ref:
        edges.append(graph.node_reversed_ref_inputs)
    return edges


def _merges(graph: DebugGraph) -> Iterable[str]:
    return [name for name, op in graph.node_op_types.items() if op == "Merge"]
