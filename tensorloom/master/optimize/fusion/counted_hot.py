"""A sum of one-hot rows as the counts that it is.

before: y = Sum(OneHot(x, depth, 1, 0), [-2])         x has rank 1 or more
after:  y = _CountedHot(x, depth)

Indicator columns end so. The one-hot rows take `x.shape[-1]` times the memory of their
sum, and most of what is added up is zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.graph_view import GraphView
from tensorloom.master.optimize.rewriting import Rewriting
from tensorloom.master.optimize.simplify.dead_nodes import remove_dead_nodes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

_TYPES: Final = frozenset([dtypes.float32, dtypes.float64])
_INDEX_TYPES: Final = frozenset([dtypes.int32, dtypes.int64])


def fuse_counted_hot(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such sums as one node each, of the same name."""
    if not any(node.op == "OneHot" for node in graph.nodes.values()):
        return graph
    view = GraphView(graph, target.preserve)
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        hot = _one_hot(view, node)
        new = None if hot is None else rewriting.fused(node, _fused(node, hot), (hot,))
        rewriting.keep(new or node)
    return remove_dead_nodes(rewriting.result(), target)


def _one_hot(view: GraphView, node: Node) -> Node | None:
    """The one-hot rows that a node adds up."""
    if node.op != "Sum" or node.attrs["keep_dims"] or node.attrs["T"] not in _TYPES:
        return None
    hot = view.nodes[node.inputs[0][0]]
    if (
        hot.op != "OneHot"
        or hot.attrs["TI"] not in _INDEX_TYPES
        or hot.device != node.device
        or hot.output_shapes is None
        or view.only_readers(hot) != [node]
        or view.constant(hot.inputs[2]) != 1
        or view.constant(hot.inputs[3]) != 0
    ):
        return None
    rank = hot.output_shapes[0].rank
    if rank is None or rank < 2 or hot.attrs["axis"] not in (-1, rank - 1):
        return None
    axes = view.constant(node.inputs[1])
    if axes not in (-2, rank - 2, [-2], [rank - 2]):
        return None
    return hot


def _fused(node: Node, hot: Node) -> Node:
    attrs = {key: value for key, value in node.attrs.items() if key[0] == "_"}
    attrs |= {"T": node.attrs["T"], "TI": hot.attrs["TI"]}
    return node.replace(op="_CountedHot", inputs=hot.inputs[:2], attrs=attrs)
