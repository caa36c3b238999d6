"""How often two conditions hold together, in each row.

before: s = Sum(Cast(LogicalAnd(a, b)), [1])         a and b bool[m, n], s float
after:  s = _CountBoth(a, b)

Streaming metrics count so: true positives by threshold are such a sum over examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.master.optimize.target import OptimizeTarget

# The counts that a sum of float32 ones gives, too.
_MOST: Final = 1 << 24


def fuse_count_both(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such sums replaced; what only they read is dead."""
    if not any(node.op == "LogicalAnd" for node in graph.nodes.values()):
        return graph
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        fused = _fused(graph, node, rewriting) if node.op == "Sum" else None
        rewriting.keep(fused or node)
    return rewriting.result()


def _fused(graph: GraphIR, total: Node, rewriting: Rewriting) -> Node | None:
    dtype = total.attrs["T"]
    if dtype not in (dtypes.float32, dtypes.float64) or total.attrs["keep_dims"]:
        return None
    cast = graph.nodes[total.inputs[0][0]]
    axes = graph.nodes[total.inputs[1][0]]
    if cast.op != "Cast" or axes.op != "Const" or cast.device != total.device:
        return None
    both = graph.nodes[cast.inputs[0][0]]
    if both.op != "LogicalAnd" or both.device != total.device:
        return None
    shapes = [_static_shape(graph, edge) for edge in both.inputs]
    dims = [None if shape is None else shape.dims_tuple for shape in shapes]
    if (
        not _is_matrix(dims[0])
        or dims[1] != dims[0]
        or axes.attrs["value"].tolist() not in ([1], [-1], 1, -1)
    ):
        return None
    new = total.replace(op="_CountBoth", inputs=both.inputs, attrs={"T": dtype})
    return rewriting.fused(total, new, (both, cast, axes))


def _is_matrix(dims: tuple[int | None, ...] | None) -> bool:
    """Whether a shape is known, with rows that are not too long to be counted."""
    if dims is None or len(dims) != 2 or dims[0] is None or dims[1] is None:
        return False
    return dims[1] <= _MOST


def _static_shape(graph: GraphIR, edge: Edge) -> TensorShape | None:
    shapes = graph.nodes[edge[0]].output_shapes
    return None if shapes is None else shapes[edge[1]]
