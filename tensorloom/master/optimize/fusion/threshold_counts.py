"""The counts of right and wrong predictions with many thresholds, as one node.

before: y = Tile(labels, [m, 1])
        p = Greater(Tile(scores, [m, 1]), Tile(limits, [1, n]))
        a = _CountBoth(y, p);            b = _CountBoth(y, LogicalNot(p))
        c = _CountBoth(LogicalNot(y), LogicalNot(p));  d = _CountBoth(LogicalNot(y), p)
after:  a, b, c, d = _ThresholdCounts(labels, scores, limits)

with labels and scores [1, n] and limits [m, 1]: what `tf.metrics.auc` makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.master.optimize.graph_view import GraphView
from tensorloom.master.optimize.rewriting import Rewriting
from tensorloom.master.optimize.simplify.dead_nodes import remove_dead_nodes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR
    from tensorloom.master.optimize.target import OptimizeTarget

# The output that counts labels and predictions of these values.
_OUTPUTS: Final = {
    (True, True): 0,
    (True, False): 1,
    (False, False): 2,
    (False, True): 3,
}
# With fewer thresholds a comparison with each takes no longer.
_LEAST_THRESHOLDS: Final = 8


def fuse_threshold_counts(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with counts over the same labels and predictions fused.

    The fused node stands where the first of the counts stood.
    """
    groups: dict[tuple[str, str], list[tuple[Node, int]]] = {}
    for node in graph.nodes.values():
        if node.op == "_CountBoth" and node.name not in target.preserve:
            found = _parts(graph, node)
            if found is not None:
                labels, above, output = found
                groups.setdefault((labels, above), []).append((node, output))
    view = GraphView(graph, target.preserve)
    for (labels, above), counts in groups.items():
        if len(counts) > 1:
            graph = _fused(graph, target, view, labels, above, counts)
    return graph


def _parts(graph: GraphIR, count: Node) -> tuple[str, str, int] | None:
    """(the node of labels, that of predictions, which of the four counts it is)."""
    if count.control_inputs:
        return None
    plain = [_without_not(graph, edge) for edge in count.inputs]
    (one, is_one), (other, is_other) = plain
    if one.op == "Greater":
        one, is_one, other, is_other = other, is_other, one, is_one
    if one.op != "Tile" or other.op != "Greater":
        return None
    return one.name, other.name, _OUTPUTS[is_one, is_other]


def _without_not(graph: GraphIR, edge: Edge) -> tuple[Node, bool]:
    node = graph.nodes[edge[0]]
    if node.op == "LogicalNot":
        return graph.nodes[node.inputs[0][0]], False
    return node, True


def _fused(
    graph: GraphIR,
    target: OptimizeTarget,
    view: GraphView,
    labels: str,
    above: str,
    counts: list[tuple[Node, int]],
) -> GraphIR:
    tile, greater = graph.nodes[labels], graph.nodes[above]
    scores, limits = (graph.nodes[name] for name, _ in greater.inputs)
    first, dtype = counts[0][0], counts[0][0].attrs["T"]
    nodes = (tile, scores, limits, greater, *(count for count, _ in counts))
    if (
        not _fits(view, tile, scores, limits, greater)
        or len({node.device for node in nodes}) > 1
        or any(count.attrs["T"] != dtype for count, _ in counts)
    ):
        return graph
    name = _unused_name(graph, f"{first.name}/counts")
    column = _as_column(limits, f"{name}/thresholds")
    edge = limits.inputs[0] if column is None else (column.name, 0)
    size = TensorShape.of((view.dims((above, 0)) or ())[:1])
    new = Node(
        name,
        "_ThresholdCounts",
        (tile.inputs[0], scores.inputs[0], edge),
        (),
        first.device,
        {"S": greater.attrs["T"], "T": dtype},
        (dtype,) * 4,
        (size,) * 4,
        first.source,
    )
    read = [graph.nodes[e[0]] for count, _ in counts for e in count.inputs]
    inside = {node.name: node for node in (tile, scores, limits, greater, *read)}
    outputs = {count.name: output for count, output in counts}
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        node = rewriting.current(node)
        if node.name == first.name:
            if column is not None:
                rewriting.keep(column)
            fused = rewriting.fused(node, new, tuple(inside.values()))
            if fused is None:
                return graph
            rewriting.keep(fused)
        output = outputs.get(node.name)
        if output is None:
            rewriting.keep(node)
        else:
            rewriting.redirect(node, [(new.name, output)])
    return remove_dead_nodes(rewriting.result(), target)


def _fits(
    view: GraphView, labels: Node, scores: Node, limits: Node, greater: Node
) -> bool:
    """Whether rows of labels and scores are compared with columns of thresholds."""
    whole = view.dims((greater.name, 0))
    if (
        labels.op != "Tile"
        or scores.op != "Tile"
        or greater.attrs["T"] not in (dtypes.float32, dtypes.float64)
        or whole is None
        or len(whole) != 2
        or whole[0] < _LEAST_THRESHOLDS
        or not whole[1]
        or any(view.dims(node.inputs[0]) != (1, whole[1]) for node in (labels, scores))
    ):
        return False
    if limits.op == "Tile":
        return view.dims(limits.inputs[0]) == (whole[0], 1)
    return limits.op == "Const" and _as_column(limits, "") is not None


def _as_column(limits: Node, name: str) -> Node | None:
    """The column of a constant matrix whose columns are the same: a folded Tile."""
    if limits.op != "Const":
        return None
    matrix = limits.attrs["value"]
    column = matrix[:, :1].copy() if matrix.ndim == 2 else matrix
    if not np.array_equal(matrix, np.broadcast_to(column, matrix.shape), True):
        return None
    shape = TensorShape.of(column.shape)
    attrs = {**limits.attrs, "value": column}
    return limits.replace(name=name, attrs=attrs, output_shapes=(shape,))


def _unused_name(graph: GraphIR, name: str) -> str:
    while name in graph.nodes:
        name += "_"
    return name
