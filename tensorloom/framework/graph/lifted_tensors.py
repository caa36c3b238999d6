"""What was made in finished branches and is used in the graphs around them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


def bring_out(tensors: Sequence[Tensor], around: Collection[Graph]) -> list[Tensor]:
    """The tensors; for those of finished branches what stands for them outside.

    Args:
      around: the graphs whose tensors need not be brought. What is of none of them, and
        of no branch in them, stays as it is.
    """
    found = list(tensors)
    while True:
        graphs = {t._op._graph for t in found}.difference(around)
        graphs = {graph for graph in graphs if leads_to(graph, around)}
        if not graphs:
            return found
        for graph in graphs:
            places = [i for i, t in enumerate(found) if t._op._graph is graph]
            outside = graph.brought_out([found[i] for i in places])
            for i, tensor in zip(places, outside, strict=True):
                found[i] = tensor


def bring_operation_out(op: Operation, graph: Any) -> Operation:
    """The operation; for one of a finished branch what runs in `graph` after it."""
    if leads_to(op._graph, [graph]):
        while op._graph is not graph:
            op = op._graph.operation_outside(op)
    return op


def place_of(graph: Graph) -> Graph:
    """The outermost graph in which tensors of a graph can be used."""
    while graph.around is not None:
        graph = graph.around
    return graph


def graph_around(graph: Any) -> Graph:
    """The graph that a program sees a graph's operations in.

    TensorFlow builds the bodies of branches and loops into the graph around them.
    """
    place: Any = place_of(graph)
    while place.building_function and place.frame is not None:
        place = place_of(place.outer_graph)
    return cast("Graph", place)


def leads_to(graph: Graph, around: Collection[Graph]) -> bool:
    """Whether a graph is one of some, or that of a branch in one."""
    place: Graph | None = graph
    while place is not None:
        if place in around:
            return True
        place = place.around
    return False
