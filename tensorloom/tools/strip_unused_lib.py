"""Cuts a graph to what lies between inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.importing.graph_util import extract_sub_graph
from tensorloom.protos.graph_pb2 import GraphDef
from tensorloom.tools import message_files

if TYPE_CHECKING:
    from tensorloom.protos.node_def_pb2 import NodeDef

# Attrs that a placeholder takes from the node that it replaces.
_KEPT = ("_output_shapes", "shape")


def strip_unused(
    input_graph_def: GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
) -> GraphDef:
    """The part of a graph that outputs need, with placeholders for the inputs.

    Args:
      input_graph_def: the graph.
      input_node_names: the nodes that become placeholders.
      output_node_names: the nodes that are wanted.
      placeholder_type_enum: the DataType of the placeholders, or a list of one each.

    Raises:
      ValueError: an input is the name of a tensor.
      KeyError: there is no node of an input's name.
    """
    names = list(input_node_names)
    for name in names:
        if ":" in name:
            raise ValueError(
                f"Name '{name}' appears to refer to a Tensor, not a Operation."
            )
    missing = set(names) - {node.name for node in input_graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    types = placeholder_type_enum
    if not isinstance(types, list):
        types = [types] * len(names)
    result = GraphDef()
    for node in input_graph_def.node:
        added = result.node.add()
        if node.name in names:
            _make_placeholder(added, node, types[names.index(node.name)])
        else:
            added.CopyFrom(node)
    stripped: GraphDef = extract_sub_graph(result, list(output_node_names))
    return stripped


def _make_placeholder(placeholder: NodeDef, node: NodeDef, dtype: int) -> None:
    placeholder.op, placeholder.name = "Placeholder", node.name
    placeholder.attr["dtype"].type = dtype  # type: ignore[assignment]
    for name in _KEPT:
        if name in node.attr:
            placeholder.attr[name].CopyFrom(node.attr[name])


def strip_unused_from_files(
    input_graph: str,
    input_binary: bool,
    output_graph: str,
    output_binary: bool,
    input_node_names: str,
    output_node_names: str,
    placeholder_type_enum: Any,
) -> int | None:
    """`strip_unused` from a file to a file; names have commas between them.

    Returns:
      -1, after a message, if there is no such file or no output is named.
    """
    if not output_node_names:
        print("You need to supply the name of a node to --output_node_names.")
        return -1
    try:
        graph = message_files.read(input_graph, GraphDef(), input_binary, "graph")
    except OSError as error:
        print(error)
        return -1
    inputs = message_files.names(input_node_names)
    outputs = message_files.names(output_node_names)
    result = strip_unused(graph, inputs, outputs, placeholder_type_enum)
    message_files.write(output_graph, result, output_binary)
    print(f"{len(result.node)} ops in the final graph.")
    return None
