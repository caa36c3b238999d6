"""Shapes as lists of ints, where a program computes them from other shapes.

So a module keeps its sizes symbolic when it is traced, and makes no tensors of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from tensorloom.deploy.program import static_value
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, Node

_WHOLE: Final = (dtypes.int32, dtypes.int64)
_PASSING: Final = ("Identity", "Cast", "StopGradient")
_ARITHMETIC: Final = {
    "Add": "+",
    "AddV2": "+",
    "Sub": "-",
    "Mul": "*",
    "FloorDiv": "//",
}


class Block(Protocol):
    """Nodes that are written, and what is known of their tensors."""

    nodes: Mapping[str, Node]
    #: The expression of each tensor.
    values: dict[Edge, str]
    #: Tensors whose values a caller knows.
    known: dict[Edge, Any]


def known_ints(block: Block, edge: Edge) -> list[int | None] | None:
    """The elements of a vector or scalar, None where one is open; None if it is no
    shape."""
    found = ints_of(block, edge)
    if found is None:
        return None
    return [int(one) if one.lstrip("-").isdigit() else None for one in found]


def ints_of(block: Block, edge: Edge) -> list[str] | None:
    """The expressions of the elements of a vector or scalar; None if it is no shape."""
    known = block.known.get(edge)
    node = block.nodes.get(edge[0])
    value = static_value(node) if known is None else known
    if value is not None:
        if np.ndim(value) > 1 or np.asarray(value).dtype.kind != "i":
            return None
        return [repr(int(one)) for one in np.reshape(value, -1)]
    if node is None or node.output_types[edge[1]] not in _WHOLE:
        return None
    write = _WRITERS.get(node.op)
    return None if write is None else write(block, node)


_COMPUTED: Final[dict[str, Callable[[int, int], int]]] = {
    "Add": operator.add,
    "AddV2": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "FloorDiv": operator.floordiv,
}


def _shape(block: Block, node: Node) -> list[str] | None:
    source = block.nodes.get(node.inputs[0][0])
    shapes = None if source is None else source.output_shapes
    if shapes is None or shapes[node.inputs[0][1]].ndims is None:
        return None
    name = block.values[node.inputs[0]]
    sizes = shapes[node.inputs[0][1]].as_list()
    return [
        f"{name}.size({axis})" if size is None else repr(size)
        for axis, size in enumerate(sizes)
    ]


def _slice(block: Block, node: Node) -> list[str] | None:
    values = ints_of(block, node.inputs[0])
    ends = [static_value(block.nodes.get(edge[0])) for edge in node.inputs[1:4]]
    if values is None or any(end is None or np.size(end) != 1 for end in ends):
        return None
    masks = {
        name: node.attrs[f"{name}_mask"]
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    if masks["ellipsis"] or masks["new_axis"]:
        return None
    begin, end, step = (int(np.reshape(one, ())) for one in ends)
    if masks["shrink_axis"]:
        return [values[begin]]
    first = None if masks["begin"] else begin
    last = None if masks["end"] else end
    return values[first:last:step]


def _joined(block: Block, node: Node) -> list[str] | None:
    edges = node.inputs if node.op == "Pack" else node.inputs[:-1]
    parts = [ints_of(block, edge) for edge in edges]
    found: list[str] = []
    for part in parts:
        if part is None:
            return None
        found += part
    return found


def _arithmetic(block: Block, node: Node) -> list[str] | None:
    left, right = (ints_of(block, edge) for edge in node.inputs)
    if left is None or right is None or len(left) != 1 or len(right) != 1:
        return None
    made = f"({left[0]} {_ARITHMETIC[node.op]} {right[0]})"
    if left[0].isdigit() and right[0].isdigit():
        first, second = int(left[0]), int(right[0])
        return [repr(_COMPUTED[node.op](first, second))]
    return [made]


def _product(block: Block, node: Node) -> list[str] | None:
    values = ints_of(block, node.inputs[0])
    if values is None or node.attrs["keep_dims"]:
        return None
    return [f"({' * '.join(values)})" if values else "1"]


def _passing(block: Block, node: Node) -> list[str] | None:
    return ints_of(block, node.inputs[0])


def _gather(block: Block, node: Node) -> list[str] | None:
    values = ints_of(block, node.inputs[0])
    places = static_value(block.nodes.get(node.inputs[1][0]))
    if values is None or places is None or np.ndim(places) > 1:
        return None
    return [values[int(at)] for at in np.reshape(places, -1)]


_Writer = Callable[["Block", "Node"], "list[str] | None"]
_WRITERS: Final[dict[str, _Writer]] = {
    "Shape": _shape,
    "StridedSlice": _slice,
    "Pack": _joined,
    "ConcatV2": _joined,
    "Prod": _product,
    "GatherV2": _gather,
    "ExpandDims": _passing,
    "Reshape": _passing,
    **dict.fromkeys(_PASSING, _passing),
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
}
