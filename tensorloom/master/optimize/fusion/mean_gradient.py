"""The gradient of a mean over all elements, whose number only the step knows.

before: s = Shape(x);  n = Cast(FloorDiv(Prod(s, [0]), 1));  d = RealDiv(Tile(g, s), n)
after:  d = _MeanGrad(g, x) [outputs = 1]                     g has one element

Every loss over a batch ends so: six small ops for what is one number many times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

_TYPES: Final = frozenset([dtypes.float32, dtypes.float64])


def fuse_mean_gradient(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with the division of each such pattern replaced.

    The nodes before it stay for other readers; without any they are dead.
    """
    if not any(node.op == "Tile" for node in graph.nodes.values()):
        return graph
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        fused = None
        if node.op == "RealDiv" and node.attrs["T"] in _TYPES:
            fused = _fused(graph, node, rewriting)
        rewriting.keep(fused or node)
    return rewriting.result()


def _fused(graph: GraphIR, division: Node, rewriting: Rewriting) -> Node | None:
    inside: list[Node] = []

    def made_by(edge: Edge, op: str) -> Node | None:
        node = graph.nodes[edge[0]]
        if node.op != op or node.device != division.device:
            return None
        inside.append(node)
        return node

    tile, cast = (
        made_by(division.inputs[0], "Tile"),
        made_by(division.inputs[1], "Cast"),
    )
    if tile is None or cast is None:
        return None
    shape, quotient = (
        made_by(tile.inputs[1], "Shape"),
        made_by(cast.inputs[0], "FloorDiv"),
    )
    if shape is None or quotient is None or not _has_one_element(graph, tile.inputs[0]):
        return None
    product = made_by(quotient.inputs[0], "Prod")
    if product is None or product.inputs[0] != tile.inputs[1]:
        return None
    axes = _constant(graph, product.inputs[1])
    outputs = _constant(graph, quotient.inputs[1])
    if axes not in (0, [0]) or not isinstance(outputs, int) or outputs < 1:
        return None
    new = division.replace(
        op="_MeanGrad",
        inputs=(tile.inputs[0], shape.inputs[0]),
        attrs={
            "T": division.attrs["T"],
            "Tx": shape.attrs["T"],
            "outputs": outputs,
        },
    )
    return rewriting.fused(division, new, inside)


def _has_one_element(graph: GraphIR, edge: Edge) -> bool:
    shapes = graph.nodes[edge[0]].output_shapes
    return shapes is not None and shapes[edge[1]].num_elements() == 1


def _constant(graph: GraphIR, edge: Edge) -> object:
    node = graph.nodes[edge[0]]
    return node.attrs["value"].tolist() if node.op == "Const" else None
