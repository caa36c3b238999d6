"""Replaces a sum of padded pieces, the gradient of slices, by a concatenation.

before: s = AddN(Pad(a, [[0, 3], [0, 0]]), Pad(b, [[2, 0], [0, 0]]))
after:  s = ConcatV2(a, b, 0)                      for a [2, n] and b [3, n]

Each padded piece is as large as the whole, and is written and added; concatenation
writes each element once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import SCALAR
from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.master.optimize.target import OptimizeTarget

_SUMS: Final = ("AddN", "Add", "AddV2")


def concatenate_pads(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such sums replaced, where the pieces cover the whole once.

    The pads stay for other readers; without any they are dead.
    """
    if not any(node.op == "Pad" for node in graph.nodes.values()):
        return graph
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        made = _concatenation(graph, node, rewriting) if node.op in _SUMS else None
        for new in made or [node]:
            rewriting.keep(new)
    return rewriting.result()


def _concatenation(
    graph: GraphIR, node: Node, rewriting: Rewriting
) -> list[Node] | None:
    """The axis and the concatenation in the place of a sum of pads."""
    pads = [graph.nodes[name] for name, _ in node.inputs]
    name = f"{node.name}/concat_axis"
    if len(pads) < 2 or name in graph.nodes:
        return None
    if any(pad.op != "Pad" or pad.device != node.device for pad in pads):
        return None
    placed = [_place(graph, pad) for pad in pads]
    axes = {place[0] for place in placed if place is not None}
    if len(axes) != 1 or None in placed:
        return None
    (axis,) = axes
    order = sorted(range(len(pads)), key=lambda i: placed[i][1])  # type: ignore[index]
    end = 0
    for i in order:
        _, begin, stop, size = placed[i]  # type: ignore[misc]
        if begin != end or stop <= begin:
            return None
        end = stop
    if end != size:
        return None
    inputs = tuple(pads[i].inputs[0] for i in order)
    attrs = {"N": len(pads), "T": node.output_types[0], "Tidx": dtypes.int32}
    new = node.replace(op="ConcatV2", inputs=(*inputs, (name, 0)), attrs=attrs)
    fused = rewriting.fused(node, new, pads)
    return None if fused is None else [_axis(name, axis, node), fused]


def _place(graph: GraphIR, pad: Node) -> tuple[int, int, int, int] | None:
    """(axis, begin, end, size of the whole): where a pad puts its input."""
    paddings = graph.nodes[pad.inputs[1][0]]
    name, index = pad.inputs[0]
    shapes = graph.nodes[name].output_shapes
    if paddings.op != "Const" or shapes is None:
        return None
    dims = shapes[index].dims_tuple
    pairs = paddings.attrs["value"].tolist()
    padded = [axis for axis, pair in enumerate(pairs) if pair != [0, 0]]
    if dims is None or len(dims) != len(pairs) or len(padded) != 1:
        return None
    (axis,) = padded
    size = dims[axis]
    before, after = pairs[axis]
    if size is None or before < 0 or after < 0:
        return None
    return axis, before, before + size, before + size + after


def _axis(name: str, axis: int, node: Node) -> Node:
    value = np.array(axis, np.int32)
    attrs = {"dtype": dtypes.int32, "value": value}
    return Node(
        name,
        "Const",
        (),
        (),
        node.device,
        attrs,
        (dtypes.int32,),
        (SCALAR,),
        node.source,
    )
