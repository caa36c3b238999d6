"""Sparse updates that sum the gradients of a row by themselves.

before: rows, i = Unique(indices);  n = StridedSlice(Shape(rows), [0], [1], [1])
        sums = UnsortedSegmentSum(grad, i, n)
        u = SparseApplyAdagrad(var, accum, lr, sums, rows)
after:  u = _FusedSparseApplyAdagrad([var], [accum], lr, [grad], [indices])

That is what optimizers make of the gradient of a lookup, in which a row may come more
than once. `fuse_optimizer_updates` then makes one of the updates of all tables: what a
step with dozens of tables spends on them are calls, not sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tensorloom.framework.registry import op_registry
from tensorloom.master.optimize.rewriting import Rewriting
from tensorloom.master.optimize.simplify.dead_nodes import remove_dead_nodes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

_MASKS: Final = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask")


def sum_in_sparse_updates(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such updates as one node each, of the same name."""
    if not any("SparseApply" in node.op for node in graph.nodes.values()):
        return graph
    readers = _count_readers(graph)
    rewriting = Rewriting(graph, target)
    changed = False
    for node in graph.nodes.values():
        fused = _fused(graph, node, readers, rewriting)
        changed = changed or fused is not None
        rewriting.keep(fused or node)
    return remove_dead_nodes(rewriting.result(), target) if changed else graph


def _count_readers(graph: GraphIR) -> dict[str, int]:
    counts: dict[str, int] = {}
    for node in graph.nodes.values():
        for name, _ in node.inputs:
            counts[name] = counts.get(name, 0) + 1
    return counts


def _fused(
    graph: GraphIR, node: Node, readers: dict[str, int], rewriting: Rewriting
) -> Node | None:
    """The update with its own sums, where it is one of sums."""
    fused = op_registry.find(f"_Fused{node.op}") if "SparseApply" in node.op else None
    if fused is None:
        return None
    names = [arg.name for arg in fused.inputs]
    at = names.index("indices")
    sums, rows = graph.nodes[node.inputs[at - 1][0]], node.inputs[at]
    if readers[sums.name] > 1:
        return None  # the sums are made anyway
    indices = _summed_indices(graph, sums, rows)
    if indices is None or any(
        made.device != node.device for made in (sums, graph.nodes[rows[0]])
    ):
        return None
    inputs = (*node.inputs[: at - 1], sums.inputs[0], indices, *node.inputs[at + 1 :])
    attrs = {**node.attrs, "N": 1, "are_distinct": _are_distinct(graph, indices)}
    new = node.replace(op=fused.name, inputs=inputs, attrs=attrs)
    length = graph.nodes[sums.inputs[2][0]]
    shape = graph.nodes[length.inputs[0][0]]
    return rewriting.fused(node, new, (graph.nodes[rows[0]], shape, length, sums))


def _summed_indices(graph: GraphIR, sums: Node, rows: Edge) -> Edge | None:
    """The indices whose different ones are `rows`, if the sums are theirs."""
    unique = graph.nodes[rows[0]]
    if (
        unique.op not in ("Unique", "UniqueV2")
        or rows[1] != 0
        or unique.control_inputs
        or sums.op != "UnsortedSegmentSum"
        or sums.inputs[1] != (unique.name, 1)
        or not _is_length(graph, sums.inputs[2], rows)
    ):
        return None
    if unique.op == "UniqueV2" and not _is_constant(graph, unique.inputs[1], [0]):
        return None
    return unique.inputs[0]


def _are_distinct(graph: GraphIR, indices: Edge) -> bool:
    """Whether a lookup has left out what comes twice already."""
    return indices[1] == 0 and graph.nodes[indices[0]].op == "Unique"


def _is_length(graph: GraphIR, edge: Edge, of: Edge) -> bool:
    """Whether an edge carries the length of a vector."""
    part = graph.nodes[edge[0]]
    if part.op != "StridedSlice" or any(part.attrs[mask] for mask in _MASKS):
        return False
    shape = graph.nodes[part.inputs[0][0]]
    return (
        shape.op == "Shape"
        and shape.inputs[0] == of
        and part.attrs["shrink_axis_mask"] == 1
        and _is_constant(graph, part.inputs[1], [0])
        and not (part.control_inputs or shape.control_inputs)
    )


def _is_constant(graph: GraphIR, edge: Edge, value: list[int]) -> bool:
    node = graph.nodes[edge[0]]
    return node.op in ("Const", "HostConst") and np.array_equal(
        node.attrs["value"], value
    )
