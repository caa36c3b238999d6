"""What `safe_embedding_lookup_sparse` makes of sparse ids, as one node.

before: kept = Reshape(Where(GreaterEqual(ids, 0)), [-1])
        i, v, e, _ = SparseFillEmptyRows(
            Gather(indices, kept), Gather(ids, kept), shape, d)
        rows = Cast(i[:, 0]);  distinct, places = Unique(v)
after:  rows, distinct, places, e = _LookupIds(indices, ids, shape, d)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.rewriting import Rewriting
from tensorloom.master.optimize.simplify.dead_nodes import remove_dead_nodes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR
    from tensorloom.master.optimize.target import OptimizeTarget


@dataclass(frozen=True)
class _Match:
    """The nodes of one such chain."""

    fill: Node  # the SparseFillEmptyRows
    before: tuple[Node, ...]  # the nodes before it that it does the work of
    column: Node  # the slice of the rows
    rows: Node  # the rows as int32
    unique: Node
    indices: Edge
    ids: Edge


def fuse_lookup_ids(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such chains fused.

    The fused node has the name of the Unique, and stands where the
    SparseFillEmptyRows stood.
    """
    if not any(node.op == "SparseFillEmptyRows" for node in graph.nodes.values()):
        return graph
    matches = _Finder(graph, target).matches()
    if not matches:
        return graph
    gone = {n.name for m in matches.values() for n in (m.column, m.rows, m.unique)}
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        if node.name in gone:
            continue
        match = matches.get(node.name)
        node = rewriting.current(node)
        if match is not None:
            fused = rewriting.fused(
                node,
                rewriting.current(_fused(match)),
                [rewriting.current(each) for each in match.before],
            )
            if fused is None:
                return graph
            name = fused.name
            rewriting.redirect(node, [("", 0), ("", 0), (name, 3), ("", 0)], (name,))
            rewriting.redirect(match.rows, [(name, 0)])
            rewriting.redirect(match.unique, [(name, 1), (name, 2)])
            node = fused
        rewriting.keep(node)
    return remove_dead_nodes(rewriting.result(), target)


def _fused(match: _Match) -> Node:
    fill, unique = match.fill, match.unique
    shapes = None
    if not any(n.output_shapes is None for n in (fill, unique, match.rows)):
        rows: Any = match.rows.output_shapes
        distinct: Any = unique.output_shapes
        filled: Any = fill.output_shapes
        shapes = (rows[0], *distinct, filled[2])
    place_type = unique.output_types[1]
    return Node(
        unique.name,
        "_LookupIds",
        (match.indices, match.ids, *fill.inputs[2:]),
        (),
        fill.device,
        {"out_idx": place_type},
        (dtypes.int32, dtypes.int64, place_type, dtypes.bool),
        shapes,
        unique.source,
    )


class _Finder:
    def __init__(self, graph: GraphIR, target: OptimizeTarget) -> None:
        self._nodes = graph.nodes
        self._target = target
        self._readers: dict[str, list[tuple[int, Node]]] = {}
        self._waited: set[str] = set()
        for node in graph.nodes.values():
            for name, index in node.inputs:
                self._readers.setdefault(name, []).append((index, node))
            self._waited.update(node.control_inputs)

    def matches(self) -> dict[str, _Match]:
        """The chains by the name of their SparseFillEmptyRows."""
        found = {}
        for node in self._nodes.values():
            if node.op == "SparseFillEmptyRows":
                match = self._match(node)
                if match is not None:
                    found[node.name] = match
        return found

    def _match(self, fill: Node) -> _Match | None:
        if fill.attrs["T"] != dtypes.int64 or not self._is_free(fill):
            return None
        before = self._before(fill)
        after = self._after(fill)
        if before is None or after is None:
            return None
        nodes, indices, ids = before
        column, rows, unique = after
        if len({node.device for node in (fill, *nodes, *after)}) > 1:
            return None
        return _Match(fill, nodes, column, rows, unique, indices, ids)

    def _before(self, fill: Node) -> tuple[tuple[Node, ...], Edge, Edge] | None:
        """(the nodes that choose valid ids, all indices, all ids)."""
        gathers = [self._nodes[edge[0]] for edge in fill.inputs[:2]]
        default = self._constant(fill.inputs[3])
        if default is None or default.ndim:
            return None
        for gather in gathers:
            if (
                gather.op != "GatherV2"
                or gather.attrs.get("batch_dims", 0)
                or not self._is(gather.inputs[2], 0)
                or [node for _, node in self._readers[gather.name]] != [fill]
                or not self._is_free(gather)
            ):
                return None
        indices, ids = gathers[0].inputs[0], gathers[1].inputs[0]
        if gathers[0].inputs[1] != gathers[1].inputs[1]:
            return None
        flat = self._nodes[gathers[0].inputs[1][0]]
        if flat.op != "Reshape" or not self._is(flat.inputs[1], [-1]):
            return None
        where = self._nodes[flat.inputs[0][0]]
        if where.op != "Where":
            return None
        compare = self._nodes[where.inputs[0][0]]
        if (
            compare.op != "GreaterEqual"
            or compare.inputs[0] != ids
            or not self._is(compare.inputs[1], 0)
        ):
            return None
        return (*gathers, flat, where, compare), indices, ids

    def _after(self, fill: Node) -> tuple[Node, Node, Node] | None:
        """(the column of rows, these as int32, the different ids)."""
        by_output: dict[int, list[Node]] = {}
        for index, node in self._readers.get(fill.name, ()):
            by_output.setdefault(index, []).append(node)
        columns, uniques = by_output.get(0, []), by_output.get(1, [])
        if len(columns) != 1 or len(uniques) != 1 or 3 in by_output:
            return None
        (column,), (unique,) = columns, uniques
        casts = [node for _, node in self._readers.get(column.name, ())]
        if len(casts) != 1 or casts[0].op != "Cast" or unique.op != "Unique":
            return None
        nodes = column, casts[0], unique
        if casts[0].output_types[0] != dtypes.int32 or not self._is_column(column):
            return None
        if any(node.control_inputs or self._is_fetched(node) for node in nodes):
            return None
        return nodes if self._is_free(column) else None

    def _is_column(self, node: Node) -> bool:
        """Whether it is x[:, 0]."""
        attrs = node.attrs
        return (
            node.op == "StridedSlice"
            and attrs["begin_mask"] & 1 == attrs["end_mask"] & 1 == 1
            and attrs["shrink_axis_mask"] == 2
            and not (attrs["ellipsis_mask"] or attrs["new_axis_mask"])
            and self._is(node.inputs[1], [0, 0])
            and self._is(node.inputs[3], [1, 1])
        )

    def _is_fetched(self, node: Node) -> bool:
        return node.name in self._target.preserve

    def _is_free(self, node: Node) -> bool:
        """Whether nobody asks for the node itself."""
        return not self._is_fetched(node) and node.name not in self._waited

    def _constant(self, edge: Edge) -> Any:
        node = self._nodes[edge[0]]
        return node.attrs["value"] if node.op == "Const" else None

    def _is(self, edge: Edge, value: Any) -> bool:
        constant = self._constant(edge)
        return constant is not None and constant.tolist() == value
