"""Fuses the search for elements that are not a default with their gathering.

before: places = Where(NotEqual(x, default));  values = GatherNd(x, places)
after:  places, values = _NotDefault(x, default)

That is how feature columns make sparse tensors of dense ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.rewriting import Rewriting, shows_variable
from tensorloom.master.optimize.simplify.dead_nodes import remove_dead_nodes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.master.optimize.target import OptimizeTarget

_TYPES: Final = frozenset(
    [dtypes.string, dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
)


def fuse_not_default(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such pairs fused, where the default is a scalar.

    The fused node has the name of the GatherNd, and stands where the Where stood.
    """
    if not any(node.op == "Where" for node in graph.nodes.values()):
        return graph
    rewriting = Rewriting(graph, target)
    pairs = _pairs(graph, target, rewriting.changes_references)
    if not pairs:
        return graph
    gathers = {gather.name for gather, _ in pairs.values()}
    for node in graph.nodes.values():
        if node.name in gathers:
            continue
        node = rewriting.current(node)
        if node.name in pairs:
            gather, compare = pairs[node.name]
            compare = rewriting.current(compare)
            fused = rewriting.fused(node, _fused(node, gather, compare), (compare,))
            assert fused is not None  # a comparison reads what it is given, too
            rewriting.redirect(node, [(fused.name, 0)])
            rewriting.redirect(gather, [(fused.name, 1)])
            node = fused
        rewriting.keep(node)
    return remove_dead_nodes(rewriting.result(), target)


def _pairs(
    graph: GraphIR, target: OptimizeTarget, changes_references: bool
) -> dict[str, tuple[Node, Node]]:
    """(GatherNd, NotEqual) by the name of the Where between them."""
    found: dict[str, tuple[Node, Node]] = {}
    for gather in graph.nodes.values():
        if gather.op != "GatherNd" or gather.control_inputs:
            continue
        where = graph.nodes[gather.inputs[1][0]]
        if where.op != "Where" or where.name in found:
            continue
        compare = graph.nodes[where.inputs[0][0]]
        nodes = (gather, where, compare)
        if (
            compare.op == "NotEqual"
            and compare.inputs[0] == gather.inputs[0]
            and compare.attrs["T"] in _TYPES
            and _is_scalar(graph, compare)
            and len({node.device for node in nodes}) == 1
            and not any(node.name in target.preserve for node in nodes[:2])
            # What shows a variable may be another one when it is gathered.
            and not (
                changes_references and shows_variable(graph.nodes, gather.inputs[0])
            )
        ):
            found[where.name] = gather, compare
    return found


def _is_scalar(graph: GraphIR, compare: Node) -> bool:
    default = graph.nodes[compare.inputs[1][0]]
    return default.op == "Const" and default.attrs["value"].ndim == 0


def _fused(where: Node, gather: Node, compare: Node) -> Node:
    shapes = None
    if where.output_shapes is not None and gather.output_shapes is not None:
        shapes = (where.output_shapes[0], gather.output_shapes[0])
    dtype = compare.attrs["T"]
    return Node(
        gather.name,
        "_NotDefault",
        compare.inputs,
        (),
        gather.device,
        {"T": dtype},
        (dtypes.int64, dtype),
        shapes,
        gather.source,
    )
