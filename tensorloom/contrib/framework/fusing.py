"""`tf.contrib.framework.fuse_op`: one op in the place of a part of a GraphDef."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tensorloom.framework.export import export
from tensorloom.protos.graph_pb2 import GraphDef


def _node_of(edge: str) -> str:
    """The name of the node that an input of another names."""
    return edge.removeprefix("^").partition(":")[0]


def _reachable(targets: Iterable[str], inputs: dict[str, list[str]]) -> set[str]:
    """The nodes that targets need, and these themselves."""
    found: set[str] = set()
    waiting = list(targets)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(inputs[name])
    return found


def _check_inside(
    name: str, inputs: dict[str, list[str]], above: set[str], borders: set[str]
) -> None:
    """Refuses a node within that reads what comes before the inputs."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in borders or current in seen:
            continue
        if current in above:
            raise TypeError(f"Node {name} uses input {current} not in input_nodes.")
        seen.add(current)
        waiting.extend(inputs[current])


@export("contrib.framework.fuse_op")
def fuse_op(
    graph_def: Any,
    input_nodes: Sequence[str],
    output_nodes: Sequence[str],
    output_dtypes: Sequence[Any],
    output_quantized: bool,
    op_name: str,
    op_type: str,
) -> Any:
    """A GraphDef in which one node stands for all between inputs and outputs.

    Args:
      graph_def: the graph; it is not changed.
      input_nodes: names of the nodes that the part reads.
      output_nodes: of the last nodes of it, which come to read the new node.
      output_dtypes: numbers of the dtypes of the new node's outputs.
      output_quantized: whether these are quantized.
      op_name: of the new node.
      op_type: its op.

    Raises:
      TypeError: an argument is of the wrong type, or the part reads other nodes too.
      AssertionError: there is no such node, or an output has several inputs.
    """
    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(input_nodes, str):
        raise TypeError("input_nodes must be a list.")
    if isinstance(output_nodes, str):
        raise TypeError("output_nodes must be a list.")
    nodes = {_node_of(node.name): node for node in graph_def.node}
    inputs = {
        name: [_node_of(edge) for edge in node.input] for name, node in nodes.items()
    }
    for name in (*input_nodes, *output_nodes):
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    above = _reachable(input_nodes, inputs)
    within = _reachable(output_nodes, inputs)
    after = []
    for name in nodes:
        if name in within:
            if name not in above and name not in output_nodes:
                _check_inside(name, inputs, above, set(input_nodes))
        elif name not in above:
            after.append(name)
    result = GraphDef()
    result.node.extend(node for name, node in nodes.items() if name in above)
    fused = result.node.add(name=op_name, op=op_type, input=input_nodes)
    fused.attr["_output_types"].list.type[:] = output_dtypes
    fused.attr["_output_quantized"].b = output_quantized
    for index, name in enumerate(output_nodes):
        if len(nodes[name].input) != 1:
            raise AssertionError(
                f"output node {name} has {len(nodes[name].input)} inputs; it must "
                "have 1"
            )
        output = result.node.add()
        output.CopyFrom(nodes[name])
        output.input[:] = [f"{op_name}:{index}" if index else op_name]
    result.node.extend(nodes[name] for name in after)
    result.library.CopyFrom(graph_def.library)
    result.versions.CopyFrom(graph_def.versions)
    return result
