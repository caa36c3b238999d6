"""Cutting and rewriting GraphDef messages: `tf.graph_util`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape

_VARIABLE_OPS = frozenset(
    [
        *("Assign", "AssignAdd", "AssignSub", "Queue", "ScatterAdd", "ScatterSub"),
        *("ScatterUpdate", "TruncatedNormal", "Variable", "VariableV2"),
    ]
)
_COLOCATION = b"loc:@"


@export("graph_util.must_run_on_cpu")
def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """True when a node (an Operation or NodeDef) cannot run on another device."""
    if isinstance(node, Operation):
        node = node.node_def
    if pin_variables_on_cpu and node.op in _VARIABLE_OPS:
        return True
    int32, string = dtypes.int32.as_datatype_enum, dtypes.string.as_datatype_enum
    if node.op == "Const":
        return node.attr["dtype"].type in (string, int32)
    if node.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return bool(node.attr["T"].type == int32)
    return bool(node.op == "Cast" and node.attr["SrcT"].type == int32)


@export("graph_util.tensor_shape_from_node_def_name")
def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> TensorShape:
    """The static shape of a tensor, named as in the inputs of a NodeDef."""
    name = input_name if ":" in input_name else f"{input_name}:0"
    shape: TensorShape = graph.get_tensor_by_name(name).shape
    return shape


@export("graph_util.extract_sub_graph")
def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """The GraphDef of the nodes that `dest_nodes` need, in their order.

    Raises:
      TypeError: `graph_def` is not a GraphDef, or `dest_nodes` is one string.
      AssertionError: a node is not in the graph.
    """
    _check_graph_def(graph_def)
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    kept: set[str] = set()
    stack = list(dest_nodes)
    while stack:
        name = stack.pop()
        if name not in kept and name in nodes:
            kept.add(name)
            stack.extend(_needed(nodes[name]))
    result = type(graph_def)()
    result.node.extend(node for node in graph_def.node if node.name in kept)
    result.library.CopyFrom(graph_def.library)
    result.versions.CopyFrom(graph_def.versions)
    return result


def _check_graph_def(graph_def: Any) -> None:
    descriptor = getattr(graph_def, "DESCRIPTOR", None)
    if descriptor is None or descriptor.name != "GraphDef":
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")


def _needed(node: Any) -> list[str]:
    """The names of a node's inputs, and of what it is colocated with."""
    groups = node.attr["_class"].list.s if "_class" in node.attr else ()
    return [_node_name(text) for text in node.input] + [
        group[len(_COLOCATION) :].decode()
        for group in groups
        if group.startswith(_COLOCATION)
    ]


def _node_name(text: str) -> str:
    return text[1:] if text.startswith("^") else text.partition(":")[0]


@export("graph_util.remove_training_nodes")
def remove_training_nodes(
    input_graph: Any, protected_nodes: Sequence[str] | None = None
) -> Any:
    """The GraphDef without CheckNumerics, and with Identity nodes spliced out.

    Identity nodes that take part in control edges stay, as do `protected_nodes`.
    """
    protected = frozenset(protected_nodes or ())
    checks = {
        n.name
        for n in input_graph.node
        if n.op == "CheckNumerics" and n.name not in protected
    }
    kept = []
    for node in input_graph.node:
        if node.name not in checks:
            copy = type(node)()
            copy.CopyFrom(node)
            del copy.input[:]
            copy.input.extend(i for i in node.input if i.lstrip("^") not in checks)
            kept.append(copy)
    spliced = _splices(kept, protected)
    result = type(input_graph)()
    for node in kept:
        if node.name not in spliced:
            inputs = [_behind(text, spliced) for text in node.input]
            del node.input[:]
            node.input.extend(inputs)
            result.node.append(node)
    return result


def _splices(nodes: Sequence[Any], protected: frozenset[str]) -> dict[str, str]:
    """The Identity nodes to take out, with what stands in for them."""
    controls = {i[1:] for n in nodes for i in n.input if i.startswith("^")}
    return {
        n.name: n.input[0]
        for n in nodes
        if n.op == "Identity"
        and n.name not in protected
        and n.name not in controls
        and not any(i.startswith("^") for i in n.input)
    }


def _behind(text: str, spliced: dict[str, str]) -> str:
    while text.lstrip("^") in spliced:
        text = spliced[text.lstrip("^")]
    return text
