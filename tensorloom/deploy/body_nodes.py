"""The nodes that an export writes, and what is known of their inputs beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.deploy.program import Unexportable, static_value
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, Node
    from tensorloom.framework.types.dtypes import DType


class Body:
    """The nodes of a graph, or of a function's body."""

    def __init__(self, nodes: Mapping[str, Node], values: dict[Edge, str]) -> None:
        self.nodes = nodes
        #: What each tensor is called in the exported program.
        self.values = values
        #: Of a function's body: dtype and shape of its arguments, by name.
        self.arguments: dict[str, tuple[DType, TensorShape]] = {}
        #: Tensors whose values a caller knows.
        self.known: dict[Edge, Any] = {}


class BodyNode:
    """A node that is written: what is known of it and of its inputs."""

    def __init__(self, body: Body, node: Node) -> None:
        self._body = body
        self.node = node

    def __getitem__(self, at: int) -> str:
        """What an input is called in the exported program."""
        return self._body.values[self.node.inputs[at]]

    def __len__(self) -> int:
        return len(self.node.inputs)

    @property
    def inputs(self) -> list[str]:
        """What all inputs are called in the exported program."""
        return [self[at] for at in range(len(self))]

    def attr(self, name: str) -> Any:
        """An attr, strings as texts."""
        value = self.node.attrs[name]
        return value.decode() if isinstance(value, bytes) else value

    def static(self, at: int) -> Any:
        """The value of an input, if it is a constant; else None."""
        edge = self.node.inputs[at]
        while edge not in self._body.known:
            source = self._body.nodes.get(edge[0])
            if source is None or source.op != "Identity":
                return static_value(source)
            edge = source.inputs[0]
        return self._body.known[edge]

    def constant(self, at: int, what: str) -> Any:
        """The value of an input. Raises Unexportable if it is no constant."""
        value = self.static(at)
        if value is None:
            raise Unexportable(f"its {what} is no constant")
        return value

    def shape(self, at: int) -> TensorShape:
        """What is known of an input's shape."""
        value = self.static(at)
        if value is not None:
            return TensorShape(np.shape(value))
        name, output = self.node.inputs[at]
        if name in self._body.arguments:
            return self._body.arguments[name][1]
        source = self._body.nodes.get(name)
        if source is None or source.output_shapes is None:
            return UNKNOWN
        return source.output_shapes[output]

    def sizes(self, at: int) -> list[int]:
        """An input's shape. Raises Unexportable if it is not all known."""
        shape = self.shape(at)
        if not shape.is_fully_defined():
            raise Unexportable(f"the shape of input {at} is not known")
        return [int(size) for size in shape.as_list() if size is not None]

    def input_dtype(self, at: int) -> DType:
        """The dtype of an input."""
        name, output = self.node.inputs[at]
        if name in self._body.arguments:
            return self._body.arguments[name][0]
        return self._body.nodes[name].output_types[output]
