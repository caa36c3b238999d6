"""Lifts tensors and operations of finished branches into the graphs around them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


def lift_tensors(
    tensors: Sequence[Tensor], enclosing: Collection[Graph]
) -> list[Tensor]:
    """The tensors; those of finished branches become outputs of the branch node.

    Args:
      enclosing: graphs whose tensors stay as they are. So do tensors of a graph that is
        neither one of these nor a branch inside one.
    """
    found = list(tensors)
    while True:
        graphs = {t._op._graph for t in found}.difference(enclosing)
        graphs = {graph for graph in graphs if is_within(graph, enclosing)}
        if not graphs:
            return found
        for graph in graphs:
            places = [i for i, t in enumerate(found) if t._op._graph is graph]
            outside = graph.lifted([found[i] for i in places])
            for i, tensor in zip(places, outside, strict=True):
                found[i] = tensor


def lift_operation(op: Operation, graph: Any) -> Operation:
    """The operation, or one of `graph` that runs after it if its branch is finished."""
    if is_within(op._graph, [graph]):
        while op._graph is not graph:
            op = op._graph.operation_outside(op)
    return op


def outermost_graph(graph: Graph) -> Graph:
    """The outermost graph in which tensors of a graph can be used."""
    while graph.enclosing is not None:
        graph = graph.enclosing
    return graph


def enclosing_graph(graph: Any) -> Graph:
    """The graph that a program sees a graph's operations in.

    TensorFlow builds the bodies of branches and loops into the graph around them.
    """
    place: Any = outermost_graph(graph)
    while place.building_function and place.frame is not None:
        place = outermost_graph(place.outer_graph)
    return cast("Graph", place)


def is_within(graph: Graph, enclosing: Collection[Graph]) -> bool:
    """Whether a graph is one of `enclosing`, or the graph of a branch inside one."""
    place: Graph | None = graph
    while place is not None:
        if place in enclosing:
            return True
        place = place.enclosing
    return False
