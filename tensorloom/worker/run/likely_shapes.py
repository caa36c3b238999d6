"""Shapes that values of unknown sizes will probably have: what batches tell of them.

A dataset's last batch may be smaller than the others, so the static shape of what an
iterator gives has no batch size, nor has anything that is computed of it. How many
elements there will be still decides in which memory values live (`memory.py`). The
iterator's dataset knows its batch size, and shape functions carry it on, also through
the shapes that gradients ask for. Kernels of either memory take whatever comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.graph.node_shapes import fitting_shapes
from tensorloom.framework.runtime.resource import container_of
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.array.shape import reduction_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.graph.graph_ir import Edge, Node
    from tensorloom.framework.runtime.resource import ResourceManager

_NEXT: Final = frozenset(["IteratorGetNext", "IteratorGetNextSync"])
_ITERATORS: Final = frozenset(["IteratorV2", "Iterator"])


def with_likely_shapes(
    nodes: Sequence[Node], resources: ResourceManager
) -> dict[str, Node]:
    """By name: the nodes of which more is likely than known, with these shapes.

    Args:
      nodes: sorted topologically, with shapes.
      resources: the iterators that were initialized by earlier steps.
    """
    if not any(node.op in _NEXT for node in nodes):
        return {}
    spread = _Spread(resources)
    for node in nodes:
        spread.add(node)
    return spread.likely


class _Spread:
    """What is likely, node by node."""

    def __init__(self, resources: ResourceManager) -> None:
        self.likely: dict[str, Node] = {}
        self._resources = resources
        self._nodes: dict[str, Node] = {}
        # Outputs that hold shapes, or axes that these decide on.
        self._values: dict[Edge, np.ndarray[Any, Any]] = {}

    def add(self, node: Node) -> None:
        """The next node, in topological order."""
        likely = self._shapes(node)
        if likely is not None and tuple(likely) != node.output_shapes:
            node = node.replace(output_shapes=tuple(likely))
            self.likely[node.name] = node
        self._nodes[node.name] = node
        self._note_values(node)

    def _shapes(self, node: Node) -> Sequence[TensorShape] | None:
        shapes = node.output_shapes
        if shapes is None or all(shape.is_fully_defined() for shape in shapes):
            return None
        if node.op in _NEXT:
            iterator = self._nodes[node.inputs[0][0]]
            return _of_batches(shapes, _batch_size(iterator, self._resources))
        if not self.likely:
            return None
        found = fitting_shapes(node, self._nodes, {}, self._values)
        if found is None:
            return None
        try:
            return [a.merge_with(b) for a, b in zip(shapes, found, strict=True)]
        except ValueError:
            return None

    def _note_values(self, node: Node) -> None:
        if node.op in ("Shape", "ShapeN"):
            for index, edge in enumerate(node.inputs):
                producer = self._nodes.get(edge[0])
                shapes = None if producer is None else producer.output_shapes
                if shapes is not None and shapes[edge[1]].is_fully_defined():
                    dims = shapes[edge[1]].as_list()
                    self._values[node.name, index] = np.array(dims, np.int64)
        elif node.op == "BroadcastGradientArgs":
            sizes = [self._value(edge) for edge in node.inputs]
            if sizes[0] is not None and sizes[1] is not None:
                axes = reduction_axes(sizes[0], sizes[1])
                for index, numbers in enumerate(axes or ()):
                    self._values[node.name, index] = np.array(numbers, np.int64)

    def _value(self, edge: Edge) -> tuple[int, ...] | None:
        node = self._nodes.get(edge[0])
        if node is not None and node.op == "Const":
            value = node.attrs["value"]
        else:
            value = self._values.get(edge)
        return None if value is None else tuple(value.tolist())


def _batch_size(iterator: Node, resources: ResourceManager) -> int | None:
    """The elements in a batch of an iterator's dataset, if it has batches."""
    from tensorloom.kernels.host.data.iterator_resource import IteratorResource

    if iterator.op not in _ITERATORS:
        return None
    shared = (iterator.attrs.get("shared_name") or b"").decode()
    name = shared or resources.own_name(iterator.name)
    try:
        container = container_of(iterator.attrs.get("container"))
        found = resources.lookup(container, name, IteratorResource)
    except errors.NotFoundError:
        return None
    return found.batch_size


def _of_batches(
    shapes: Sequence[TensorShape], size: int | None
) -> list[TensorShape] | None:
    if size is None:
        return None
    likely = []
    for shape in shapes:
        dims = shape.dims_tuple
        if dims and dims[0] is None:
            shape = TensorShape.of((size, *dims[1:]))
        likely.append(shape)
    return likely
