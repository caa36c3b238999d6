"""Import of GraphDefs under the C API's options.

They differ from `tf.import_graph_def`: there is no prefix by default, names that the
graph has already are errors unless they are to be made unique, and input mappings that
nothing uses are told and no error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensorloom.client.importing.import_mapping import InputMapping
from tensorloom.client.importing.importer import (
    add_control_inputs,
    checked_graph_def,
    import_nodes,
    scopes_of,
)
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.graph import graph_def as graph_defs

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


@dataclass(slots=True)
class Options:
    """How a GraphDef is imported."""

    prefix: str = ""
    default_device: str = ""
    uniquify_names: bool = False
    uniquify_prefix: bool = False
    #: By "node:index" or "^node" of the GraphDef.
    input_map: dict[str, Any] = field(default_factory=dict)
    control_dependencies: list[Operation] = field(default_factory=list)
    return_outputs: list[tuple[str, int]] = field(default_factory=list)
    return_operations: list[str] = field(default_factory=list)


def set_option(options: Options, name: str, value: Any) -> None:
    """Sets a field of the options."""
    setattr(options, name, value)


def map_input(options: Options, name: str, index: int, tensor: Tensor) -> None:
    """Reads a tensor in place of an output of the GraphDef."""
    options.input_map[f"{name}:{index}"] = tensor


def map_control(options: Options, name: str, op: Operation) -> None:
    """Waits for an operation in place of a node of the GraphDef."""
    options.input_map[f"^{name}"] = op


def add_control_dependency(options: Options, op: Operation) -> None:
    """Lets nodes without inputs wait for an operation."""
    options.control_dependencies.append(op)


def add_return_output(options: Options, name: str, index: int) -> int:
    """Asks for the tensor that stands for an output; how many are asked for now."""
    options.return_outputs.append((name, index))
    return len(options.return_outputs)


def add_return_operation(options: Options, name: str) -> int:
    """Asks for the operation of a node; how many are asked for now."""
    options.return_operations.append(name)
    return len(options.return_operations)


@dataclass(frozen=True, slots=True)
class Results:
    """What an import gave."""

    outputs: list[Tensor]
    operations: list[Operation]
    #: (node, index) of the input mappings that nothing uses; index -1 is a control.
    unused: list[tuple[str, int]]


def import_serialized(
    graph: Graph, serialized: bytes, options: Options
) -> tuple[list[Tensor], list[Operation], list[tuple[str, int]]]:
    """Imports a serialized GraphDef: see `Results` for what it gives.

    Raises:
      InvalidArgumentError, ValueError: it is none, or does not fit the graph.
      errors.NotFoundError: an op is not known.
    """
    proto = checked_graph_def(graph_defs.parse(serialized), changes=False)
    results = import_graph(graph, proto, options)
    return results.outputs, results.operations, results.unused


def import_graph(graph: Graph, proto: Any, options: Options) -> Results:
    """Imports a GraphDef, which may be changed.

    Raises:
      InvalidArgumentError, ValueError: it does not fit the graph.
      errors.NotFoundError: an op is not known.
    """
    prefix = _prefix(graph, options)
    _check_names(graph, proto, prefix, options)
    devices = {n.name: n.device or options.default_device for n in proto.node}
    for node in proto.node:
        node.device = ""
    outputs = [f"{name}:{index}" for name, index in options.return_outputs]
    with graph._lock:
        importer = import_nodes(
            graph,
            proto,
            prefix,
            InputMapping(options.input_map),
            [*outputs, *options.return_operations],
        )
        for name, device in devices.items():
            if device:  # as it was written: a step says what is wrong with it
                importer.element(name)._device = device
        _add_controls(importer.operations, options.control_dependencies)
    return Results(
        [importer.element(name) for name in outputs],
        [importer.element(name) for name in options.return_operations],
        [
            _unmapped(key)
            for key in importer.mapping.unknown_keys(importer.output_counts)
        ],
    )


def _unmapped(key: str) -> tuple[str, int]:
    if key.startswith("^"):
        return key[1:], -1
    name, _, index = key.rpartition(":")
    return name, int(index)


def _prefix(graph: Graph, options: Options) -> str:
    prefix = options.prefix.removesuffix("/")
    if not prefix:
        return ""
    if options.uniquify_prefix:
        return _unique(graph, prefix)
    if prefix in graph._by_name:
        raise invalid_argument(
            f"Import node name prefix '{prefix}/' conflicts with name already used in "
            "the graph"
        )
    return prefix


def _unique(graph: Graph, prefix: str) -> str:
    """A prefix that no operation has."""
    scopes, number, candidate = scopes_of(graph), 0, prefix
    while candidate in scopes or candidate in graph._by_name:
        number += 1
        candidate = f"{prefix}_{number}"
    return candidate


def _add_controls(imported: list[Operation], controls: list[Operation]) -> None:
    """Lets the operations that wait for none of the imported wait for others."""
    known = set(imported)
    for op in imported if controls else ():
        producers = {tensor.op for tensor in op.inputs} | set(op.control_inputs)
        if not producers & known:
            add_control_inputs(op, controls)


def _check_names(graph: Graph, proto: Any, prefix: str, options: Options) -> None:
    if options.uniquify_names:
        return
    for node in proto.node:
        name = f"{prefix}/{node.name}" if prefix else node.name
        if name in graph._by_name:
            raise invalid_argument(
                f"Node name '{node.name}' already exists in the Graph"
            )
