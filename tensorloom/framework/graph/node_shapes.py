"""Shape inference over the light graph, for nodes without known shapes.

Graphs that our client built carry their shapes. The shapes of nodes that come in a
GraphDef, and of nodes that passes add, are inferred here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.shape_inference import (
    HandleData,
    InferenceContext,
    run_shape_fn,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    import numpy as np

    from tensorloom.framework.graph.graph_ir import GraphIR, Node

Handles = dict[tuple[str, int], HandleData]
Values = Mapping[tuple[str, int], "np.ndarray[Any, Any]"]

_NO_VALUES: Final[Values] = {}


class _NodeContext(InferenceContext):
    """The inputs are nodes of a light graph; constants are `Const` nodes."""

    __slots__ = ("handles", "node", "nodes", "values")

    node: Node
    nodes: Mapping[str, Node]
    handles: Handles
    values: Values

    def input_value(self, index: int) -> np.ndarray[Any, Any] | None:
        edge = self.node.inputs[index]
        producer = self.nodes.get(edge[0])
        if producer is None or producer.op != "Const":
            return self.values.get(edge)
        value: np.ndarray[Any, Any] = producer.attrs["value"]
        return value

    def handle_data(self, index: int) -> HandleData | None:
        return self.handles.get(self.node.inputs[index])


def infer_node(
    node: Node, nodes: Mapping[str, Node], handles: Handles
) -> Sequence[TensorShape]:
    """Output shapes of one node whose producers' shapes are known.

    Shapes that do not fit are left unknown: the kernel will say so, with the values.
    """
    shapes = fitting_shapes(node, nodes, handles)
    return (UNKNOWN,) * len(node.output_types) if shapes is None else shapes


def fitting_shapes(
    node: Node,
    nodes: Mapping[str, Node],
    handles: Handles,
    values: Values = _NO_VALUES,
) -> Sequence[TensorShape] | None:
    """Output shapes of one node, None where those of its inputs do not fit.

    Args:
      node: the node.
      nodes: its producers.
      handles: what the handles among its inputs stand for; of its outputs is added.
      values: of outputs that are known, beside those of `Const` nodes.
    """
    op_def = op_registry.find(node.op)
    if op_def is None:
        return (UNKNOWN,) * len(node.output_types)
    shapes, types = [], []
    for name, index in node.inputs:
        producer = nodes.get(name)
        if producer is None or producer.output_shapes is None:
            shapes.append(UNKNOWN)
        else:
            shapes.append(producer.output_shapes[index])
        if producer is not None:
            types.append(producer.output_types[index])
        else:  # an argument of a body: what shape functions do not ask for
            types.append(node.output_types[0] if node.output_types else dtypes.float32)
    context = _NodeContext(
        node.op, node.name, node.attrs, shapes, types, node.output_types
    )
    context.node, context.nodes, context.handles = node, nodes, handles
    context.values = values
    try:
        result = run_shape_fn(op_def, context)
    except (ValueError, KeyError, TypeError):
        return None
    for index, data in (context.output_handles or {}).items():
        handles[node.name, index] = data
    return result


def infer_missing(graph: GraphIR) -> GraphIR:
    """The graph with shapes for every node (sorted topologically)."""
    if all(n.output_shapes is not None for n in graph.nodes.values()):
        return graph
    return graph.with_nodes(with_shapes(graph.nodes))


def with_shapes(nodes: Mapping[str, Node]) -> list[Node]:
    """The nodes (sorted topologically), with shapes where nobody told them."""
    if all(n.output_shapes is not None for n in nodes.values()):
        return list(nodes.values())
    handles: Handles = {}
    done: dict[str, Node] = {}
    for node in nodes.values():
        if node.output_shapes is None:
            node = node.replace(output_shapes=tuple(infer_node(node, done, handles)))
        done[node.name] = node
    return list(done.values())
