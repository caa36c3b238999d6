"""Sums of rows of sparse ids with zeros for rows without ids, and their gradient.

With rows, distinct, places, e = _LookupIds(...) (see `lookup_ids`):

before: m = SparseSegmentMean(data, places, rows)
        y = Select(Tile(Reshape(e, [-1, 1]), [1, width]), ZerosLike(m), m)
after:  y = _SegmentsOrZeros(data, places, rows, e)

before: g = SparseSegmentMeanGrad(Select(Tile(...), zeros, dy), places, rows, n)
after:  g = _SegmentsOrZerosGrad(dy, places, rows, e, n)

The gradient of a SparseSegmentSum is UnsortedSegmentSum(Gather(dy, rows), places, n).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.graph_view import GraphView
from tensorloom.master.optimize.rewriting import Rewriting
from tensorloom.master.optimize.simplify.dead_nodes import remove_dead_nodes
from tensorloom.master.optimize.simplify.dependency import simplify_dependencies

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

_SUMS: Final = {
    "SparseSegmentSum": b"sum",
    "SparseSegmentMean": b"mean",
    "SparseSegmentSqrtN": b"sqrt_n",
}
_GRADIENTS: Final = {
    "UnsortedSegmentSum": b"sum",
    "SparseSegmentMeanGrad": b"mean",
    "SparseSegmentSqrtNGrad": b"sqrt_n",
}
_TYPES: Final = frozenset([dtypes.float32, dtypes.float64])


def fuse_segments_or_zeros(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such sums and gradients as one node each, of the same name."""
    if not any(node.op == "_LookupIds" for node in graph.nodes.values()):
        return graph
    # The gradient first: it reads zeros that are made of the sums. Nodes that are only
    # waited for are not computed then.
    for find in (_gradient, _sums):
        graph = simplify_dependencies(_rewritten(graph, target, find), target)
        graph = remove_dead_nodes(graph, target)
    return graph


def _rewritten(graph: GraphIR, target: OptimizeTarget, find: Any) -> GraphIR:
    view = _View(graph, target.preserve)
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        found = find(view, node)
        new = None if found is None else rewriting.fused(node, *found)
        rewriting.keep(new or node)
    return rewriting.result()


class _View(GraphView):
    """The graph, in which conditions of rows are found."""

    def producer(self, edge: Edge) -> Node:
        return self.nodes[edge[0]]

    def is_constant(self, edge: Edge, *values: Any) -> bool:
        node = self.producer(edge)
        return node.op == "Const" and node.attrs["value"].tolist() in values

    def readers(self, node: Node) -> list[Node]:
        return self._readers.get(node.name, [])

    def is_preserved(self, node: Node) -> bool:
        return node.name in self._preserve

    def condition(self, edge: Edge) -> tuple[Edge, tuple[Node, ...]] | None:
        """(what says which rows are zeros, the nodes that make it a matrix)."""
        tile = self.producer(edge)
        inside: tuple[Node, ...] = ()
        if tile.op == "Tile":  # of one column nobody needs that
            multiples = self.producer(tile.inputs[1])
            if multiples.op != "Const" or multiples.attrs["value"].tolist()[0] != 1:
                return None
            edge, inside = tile.inputs[0], (tile,)
        column = self.producer(edge)
        if column.op != "Reshape" or not self.is_constant(column.inputs[1], [-1, 1]):
            return None
        return column.inputs[0], (*inside, column)

    def is_of_ids(self, places: Edge, rows: Edge, is_empty: Edge) -> bool:
        """Whether these are the outputs of one `_LookupIds`."""
        name = rows[0]
        outputs = ((name, 0), (name, 2), (name, 3))
        return self.nodes[name].op == "_LookupIds" and outputs == (
            rows,
            places,
            is_empty,
        )


def _sums(view: _View, node: Node) -> tuple[Node, tuple[Node, ...]] | None:
    if node.op != "Select" or node.attrs["T"] not in _TYPES:
        return None
    zeros, sums = view.producer(node.inputs[1]), view.producer(node.inputs[2])
    combiner = _SUMS.get(sums.op)
    if combiner is None or zeros.op != "ZerosLike" or zeros.inputs[0] != (sums.name, 0):
        return None
    condition = view.condition(node.inputs[0])
    if condition is None:
        return None
    is_empty, masks = condition
    data, places, rows = sums.inputs
    if (
        not view.is_of_ids(places, rows, is_empty)
        or not _are_matrices(sums, node)
        or len({each.device for each in (node, zeros, sums, *masks)}) > 1
        or view.is_preserved(sums)
        or view.readers(zeros) != [node]
        or any(each not in (node, zeros) for each in view.readers(sums))
    ):
        return None
    inputs = (data, places, rows, is_empty)
    return _new(view, node, "_SegmentsOrZeros", inputs, combiner), (
        *(zeros, sums),
        *masks,
    )


def _gradient(view: _View, node: Node) -> tuple[Node, tuple[Node, ...]] | None:
    combiner = _GRADIENTS.get(node.op)
    if combiner is None or node.attrs["T"] not in _TYPES:
        return None
    chosen, rest = view.producer(node.inputs[0]), list(node.inputs[1:])
    inside: tuple[Node, ...] = ()
    if node.op == "UnsortedSegmentSum":
        gather = chosen
        if (
            gather.op != "GatherV2"
            or gather.attrs.get("batch_dims", 0)
            or not view.is_constant(gather.inputs[2], 0)
            or view.readers(gather) != [node]
        ):
            return None
        chosen, inside = view.producer(gather.inputs[0]), (gather,)
        rest.insert(1, gather.inputs[1])
    if chosen.op != "Select" or len(view.readers(chosen)) != 1:
        return None
    zeros, condition = view.producer(chosen.inputs[1]), view.condition(chosen.inputs[0])
    if condition is None or zeros.op != "ZerosLike":
        return None
    is_empty, masks = condition
    places, rows, size = rest
    inside = (*inside, chosen, zeros, *masks)
    if (
        not view.is_of_ids(places, rows, is_empty)
        or not _are_matrices(node, chosen)
        or view.producer(size).output_types[size[1]] != dtypes.int32
        or any(view.is_preserved(each) for each in inside)
        or len({each.device for each in (node, *inside)}) > 1
    ):
        return None
    inputs = (chosen.inputs[2], places, rows, is_empty, size)
    return _new(view, node, "_SegmentsOrZerosGrad", inputs, combiner), inside


def _are_matrices(*nodes: Node) -> bool:
    return all(
        node.output_shapes is not None and node.output_shapes[0].rank == 2
        for node in nodes
    )


def _new(
    view: _View, node: Node, op: str, inputs: tuple[Edge, ...], combiner: bytes
) -> Node:
    places = inputs[1]
    attrs = {
        **{key: value for key, value in node.attrs.items() if key[0] == "_"},
        "T": node.attrs["T"],
        "Tidx": view.producer(places).output_types[places[1]],
        "combiner": combiner,
    }
    return node.replace(op=op, inputs=inputs, attrs=attrs)
