"""The receptive fields of a network's features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorloom.contrib.receptive_field.layer_windows import get_layer_params
from tensorloom.contrib.receptive_field.order import data_inputs, get_compute_order
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, Tensor


class ReceptiveField:
    """What each feature sees.

    Attributes:
      size, stride, padding: of the fields, horizontal and vertical.
    """

    def __init__(self, size: Any, stride: Any, padding: Any) -> None:
        self.size = np.asarray(size)
        self.stride = np.asarray(stride)
        self.padding = np.asarray(padding)

    def _axes(self, axis: Any, coordinates: Any, name: str) -> list[int]:
        axes = list(range(self.size.size) if axis is None else axis)
        if coordinates.shape[-1] != len(axes):
            raise ValueError(
                f"Dimensionality of the {name} ({coordinates.shape[-1]}) does not "
                f"match dimensionality of `axis` ({len(axes)})"
            )
        return axes

    def compute_input_center_coordinates(self, y: Any, axis: Any = None) -> Any:
        """The middle of the field of features at `y`, `[..., axes]`.

        Raises:
          ValueError: another number of axes.
        """
        y = np.asarray(y)
        axes = self._axes(axis, y, "feature coordinates `y`")
        return -self.padding[axes] + y * self.stride[axes] + (self.size[axes] - 1) / 2

    def compute_feature_coordinates(self, x: Any, axis: Any = None) -> Any:
        """Where the features are whose fields have their middles at `x`.

        Raises:
          ValueError: another number of axes.
        """
        x = np.asarray(x)
        axes = self._axes(axis, x, "input center coordinates `x`")
        shifted = x + self.padding[axes] + (1 - self.size[axes]) / 2
        return shifted / self.stride[axes]

    def __iter__(self) -> Iterator[Any]:
        return iter(np.concatenate([self.size, self.stride, self.padding]))


@dataclass
class _AxisField:
    """Of the output, on one axis, in places of a node."""

    size: int
    stride: int
    padding: int | None

    def before(self, window: int, stride: int, padding: int | None) -> _AxisField:
        """In places of what the node sees."""
        is_known = padding is not None and self.padding is not None
        return _AxisField(
            stride * self.size + window - stride,
            stride * self.stride,
            stride * self.padding + padding if is_known else None,  # type: ignore[operator]
        )

    def check_aligned(self, other: _AxisField, axis: str) -> None:
        """Raises ValueError where two ways through the network see other places."""
        if self.padding is None or other.padding is None:
            return
        if self.stride != other.stride:
            raise ValueError(
                "Graph is not aligned since effective stride from different paths is "
                f"different in {axis} direction"
            )
        middles = [(each.size - 1) / 2 - each.padding for each in (self, other)]  # type: ignore[operator]
        if middles[0] != middles[1]:
            raise ValueError(
                "Graph is not aligned since center shift from different paths is "
                f"different in {axis} direction"
            )


@export("contrib.receptive_field.compute_receptive_field_from_graph_def")
def compute_receptive_field_from_graph_def(
    graph_def: Any,
    input_node: Any,
    output_node: Any,
    stop_propagation: Sequence[str] | None = None,
    input_resolution: Sequence[int] | None = None,
) -> ReceptiveField:
    """What the features of a node see of the images.

    Args:
      graph_def: a GraphDef or a Graph.
      input_node: the node of the images: its name, or its tensor.
      output_node: the node of the features: its name, or its tensor.
      stop_propagation: beginnings of names of nodes that are left out.
      input_resolution: height and width of the images, if padding depends on them.

    Raises:
      ValueError: a node is not there or not reached, its op is unknown, or ways through
        the network see different places.
    """
    if isinstance(graph_def, Graph):
        graph_def = graph_def.as_graph_def()
    start, end = (
        node.op.name if isinstance(node, Tensor) else node
        for node in (input_node, output_node)
    )
    info, nodes = get_compute_order(graph_def, start, input_resolution)
    if end not in nodes:
        raise ValueError("Output node was not found")
    ignored = tuple(stop_propagation or ())
    fields = {end: (_AxisField(1, 1, 0), _AxisField(1, 1, 0))}
    for name in sorted(info, key=lambda each: -info[each].order):
        if name == start:
            break
        if name not in fields:
            continue
        node = nodes[name]
        found = get_layer_params(node, nodes, info[name].input_size)
        before = tuple(
            field.before(found[k], found[2 + k], found[4 + k])
            for k, field in enumerate(fields[name])
        )
        for each in data_inputs(node):
            if not each.startswith(ignored) or not ignored:
                fields[each] = _merged(fields.get(each), before)
    if start not in fields:
        raise ValueError("Input node was not found")
    x, y = fields[start]
    return ReceptiveField(
        (x.size, y.size), (x.stride, y.stride), (x.padding, y.padding)
    )


def _merged(known: Any, new: Any) -> Any:
    """The larger field of each axis."""
    if known is None:
        return new
    for one, other, axis in zip(known, new, ("horizontal", "vertical"), strict=True):
        one.check_aligned(other, axis)
    return tuple(
        other if one.size < other.size else one
        for one, other in zip(known, new, strict=True)
    )
