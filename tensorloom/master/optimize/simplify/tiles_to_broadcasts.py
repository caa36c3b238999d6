"""Values that are repeated only to have the shape of what they meet.

before: t = Tile(x, n);  y = Add(t, z)              x is [m, 1]; t, z and y are [m, k]
        t = Tile(c, n);  y = Select(t, a, b)
after:  y = Add(x, z)                               operations repeat them themselves
        y = SelectV2(c, a, b)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

_REPEAT: Final = frozenset(
    {
        *("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum"),
        *("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"),
        *("LogicalAnd", "LogicalOr", "SelectV2"),
    }
)
# What takes equal shapes only, and what computes the same and repeats.
_ALIKE: Final = {"Select": "SelectV2"}


def tiles_to_broadcasts(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph in which such operations take what was repeated.

    The Tile stays for other readers; without any it is dead.
    """
    if not any(node.op == "Tile" for node in graph.nodes.values()):
        return graph
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        if node.op in _REPEAT or node.op in _ALIKE:
            node = _with_repeated(rewriting, node) or node
        rewriting.keep(node)
    return rewriting.result()


def _with_repeated(rewriting: Rewriting, node: Node) -> Node | None:
    shape = _known(node, 0)
    if shape is None:
        return None
    edges = [_repeated(rewriting, node, edge, shape) for edge in node.inputs]
    shapes = [_known(rewriting.nodes[name], index) for name, index in node.inputs]
    if node.op in _ALIKE and any(one != shape for one in shapes):
        return None  # a vector that chooses rows
    # One input says how often the others are to be repeated.
    full = [shapes[i] == shape and edges[i] is None for i in range(len(edges))]
    if not any(edges) or not any(full):
        return None
    tiles = [
        rewriting.nodes[edge[0]]
        for edge, new in zip(node.inputs, edges, strict=True)
        if new is not None
    ]
    inputs = [new or old for new, old in zip(edges, node.inputs, strict=True)]
    new = node.replace(op=_ALIKE.get(node.op, node.op), inputs=tuple(inputs))
    return rewriting.fused(node, new, tiles)


def _repeated(
    rewriting: Rewriting, reader: Node, edge: Edge, shape: tuple[int | None, ...]
) -> Edge | None:
    """What a Tile repeats to that shape, if broadcasting does so too."""
    tile = rewriting.nodes[edge[0]]
    if tile.op != "Tile" or tile.device != reader.device:
        return None
    name, index = source = tile.inputs[0]
    before, after = _known(rewriting.nodes[name], index), _known(tile, 0)
    if before is None or after is None or after != shape or before == after:
        return None
    sizes = zip(before, after, strict=True)
    return source if all(old in (1, new) for old, new in sizes) else None


def _known(node: Node, index: int) -> tuple[int | None, ...] | None:
    """The static shape of an output, if all of it is known."""
    if node.output_shapes is None or not node.output_shapes[index].is_fully_defined():
        return None
    return node.output_shapes[index].dims_tuple
