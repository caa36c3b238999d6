"""Values that follow from the static shapes of a node's inputs alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape

    Shapes = Sequence[TensorShape | None]
    Arrays = Sequence[np.ndarray[Any, Any]]


def value_of_shapes(node: Node, shapes: Shapes) -> Arrays | None:
    """The outputs of a node that asks for shapes, as far as they are known.

    Args:
      node: of an op of `OPS`.
      shapes: of its inputs; None where nothing is known.

    Returns:
      A value for each output; None if one is not known, or too large for its dtype:
      the step will say so.
    """
    return OPS[node.op](node, shapes)


def size_of_array(
    node: Node,
    nodes: Mapping[str, Node],
    value_of: Callable[[tuple[str, int]], np.ndarray[Any, Any] | None],
) -> Arrays | None:
    """The output of a `TensorArraySizeV3`, if its array had one size since it was made.

    Args:
      node: of that op.
      nodes: the node that makes the array among others.
      value_of: the value of an output, None where it is not known.
    """
    array = nodes.get(node.inputs[0][0])
    if array is None or array.op != "TensorArrayV3" or array.attrs["dynamic_size"]:
        return None
    size = value_of(array.inputs[0])
    return None if size is None or size.ndim or size < 0 else [size]


#: Ops that take a part of a shape.
PARTS: Final = frozenset({"Slice", "StridedSlice"})


def partial_shape(
    shape: TensorShape | None, dtype: DType
) -> np.ndarray[Any, Any] | None:
    """The sizes of a shape of known rank; -1 where they are not known."""
    dims = None if shape is None else shape.dims_tuple
    if dims is None:
        return None
    sizes = [-1 if dim is None else dim for dim in dims]
    return np.array(sizes, dtype.np_dtype) if _fits(sizes, dtype) else None


def _shape(node: Node, shapes: Shapes) -> Arrays | None:
    dtype = node.output_types[0]
    values = []
    for shape in shapes:
        dims = None if shape is None else shape.dims_tuple
        if dims is None or None in dims or not _fits(dims, dtype):
            return None
        values.append(np.array(dims, dtype.np_dtype))
    return values


def _size(node: Node, shapes: Shapes) -> Arrays | None:
    elements = None if shapes[0] is None else shapes[0].num_elements()
    dtype = node.output_types[0]
    if elements is None or not _fits([elements], dtype):
        return None
    return [np.array(elements, dtype.np_dtype)]


def _rank(node: Node, shapes: Shapes) -> Arrays | None:
    if shapes[0] is None or shapes[0].rank is None:
        return None
    return [np.array(shapes[0].rank, np.int32)]


def _fits(numbers: Iterable[Any], dtype: DType) -> bool:
    return bool(max(numbers, default=0) <= dtype.max)


OPS: Final[dict[str, Callable[[Node, Shapes], Arrays | None]]] = {
    "Shape": _shape,
    "ShapeN": _shape,
    "Size": _size,
    "Rank": _rank,
}
