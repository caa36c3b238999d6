"""A program as the source of a module's `forward`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.deploy.program import Refusal, Unexportable, static_value
from tensorloom.deploy.sizes import ints_of
from tensorloom.deploy.torchscript.registry import WRITERS
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, FunctionIR, GraphIR, Node
    from tensorloom.framework.types.dtypes import DType

_WORD: Final = re.compile(r"\bv\d+\b")
_ASSIGNED: Final = re.compile(r"\s*(v\d+) = ")
TORCH_TYPES: Final = {
    dtypes.float32: "torch.float32",
    dtypes.float64: "torch.float64",
    dtypes.float16: "torch.float16",
    dtypes.bfloat16: "torch.bfloat16",
    dtypes.int8: "torch.int8",
    dtypes.int16: "torch.int16",
    dtypes.int32: "torch.int32",
    dtypes.int64: "torch.int64",
    dtypes.uint8: "torch.uint8",
    dtypes.bool: "torch.bool",
    dtypes.complex64: "torch.complex64",
    dtypes.complex128: "torch.complex128",
}


class Source:
    """The lines of a module, and the constants that they read."""

    def __init__(self, graph: GraphIR) -> None:
        self.graph = graph
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}
        self.refusals: list[Refusal] = []
        self.depth = 1
        self._count = 0

    def add(self, line: str) -> None:
        """A line at the depth of the block at hand."""
        self.lines.append("    " * self.depth + line)

    def drop_unread(self) -> None:
        """Leaves out the lines whose variables nobody reads, and what those read."""
        while True:
            words = Counter(w for line in self.lines for w in _WORD.findall(line))
            kept = [
                line
                for line in self.lines
                if (found := _ASSIGNED.match(line)) is None or words[found[1]] > 1
            ]
            if len(kept) == len(self.lines):
                return
            self.lines = kept

    def fresh(self) -> str:
        """A name that nothing else has."""
        self._count += 1
        return f"v{self._count}"

    def constant(self, value: Any) -> str:
        """The expression of an array."""
        array = np.asarray(value)
        if dtypes.as_dtype(array.dtype) not in TORCH_TYPES:
            raise Unexportable(f"torch has no {array.dtype}")
        name = f"c{len(self.constants)}"
        self.constants[name] = array
        return f"self.{name}"


class Block:
    """The nodes of the graph, or of a function's body."""

    def __init__(
        self, source: Source, nodes: Mapping[str, Node], values: dict[Edge, str]
    ) -> None:
        self.source = source
        self.nodes = nodes
        #: The variable of each tensor.
        self.values = values
        self.arguments: dict[str, tuple[DType, TensorShape]] = {}
        #: Tensors whose values a caller knows.
        self.known: dict[Edge, Any] = {}

    def write(self) -> None:
        """Writes all nodes; those that cannot be are noted, and the next are tried."""
        for node in self.nodes.values():
            if node.op in ("_Arg", "_Retval", "NoOp", "Assert"):
                continue
            try:
                written = self._written(node)
            except Unexportable as reason:
                refusal = Refusal(node.name, node.op, str(reason))
                self.source.refusals.append(refusal)
                written = ["None"] * max(1, len(node.output_types))
            for output, expression in enumerate(written):
                self._assign(node, output, expression)

    def _assign(self, node: Node, output: int, expression: str) -> None:
        if expression.replace(".", "").replace("_", "").isalnum():
            self.values[node.name, output] = expression
            return
        name = self.source.fresh()
        self.source.add(f"{name} = {expression}")
        self.values[node.name, output] = name

    def _written(self, node: Node) -> list[str]:
        for dtype in node.output_types:
            if dtype not in TORCH_TYPES and dtype != dtypes.resource:
                raise Unexportable(f"torch has no tensors of {dtype.name}")
        if node.op == "Const":
            return [self.source.constant(node.attrs["value"])]
        write = WRITERS.get(node.op)
        if write is None:
            raise Unexportable("no form of this op in torch is known")
        made = write(Line(self, node))
        return [made] if isinstance(made, str) else list(made)

    def inner(self, function: FunctionIR, arguments: list[str]) -> Block:
        """The block of a function's body."""
        values: dict[Edge, str] = {
            (name, 0): value
            for name, value in zip(function.arg_names, arguments, strict=True)
        }
        block = Block(self.source, function.nodes, values)
        shapes = function.arg_shapes or [UNKNOWN] * len(function.arg_names)
        facts = zip(function.arg_types, shapes, strict=True)
        block.arguments = dict(zip(function.arg_names, facts, strict=True))
        return block


class Line:
    """A node that is written: what its writer sees."""

    def __init__(self, block: Block, node: Node) -> None:
        self.block = block
        self.source = block.source
        self.node = node

    def __getitem__(self, at: int) -> str:
        """The variable of an input."""
        return self.block.values[self.node.inputs[at]]

    def __len__(self) -> int:
        return len(self.node.inputs)

    @property
    def inputs(self) -> list[str]:
        """The variables of all inputs."""
        return [self[at] for at in range(len(self))]

    def attr(self, name: str) -> Any:
        """An attr, strings as texts."""
        value = self.node.attrs[name]
        return value.decode() if isinstance(value, bytes) else value

    def static(self, at: int) -> Any:
        """The value of an input, if it is a constant; else None."""
        edge = self.node.inputs[at]
        while edge not in self.block.known:
            source = self.block.nodes.get(edge[0])
            if source is None or source.op != "Identity":
                return static_value(source)
            edge = source.inputs[0]
        return self.block.known[edge]

    def constant(self, at: int, what: str) -> Any:
        """The value of an input. Raises Unexportable if it is no constant."""
        value = self.static(at)
        if value is None:
            raise Unexportable(f"its {what} is no constant")
        return value

    def ints(self, at: int) -> str:
        """An input as a list of ints."""
        value = self.static(at)
        if value is not None:
            return repr([int(one) for one in np.reshape(value, -1)])
        found = ints_of(self.block, self.node.inputs[at])
        return f"ints({self[at]})" if found is None else f"[{', '.join(found)}]"

    def one_int(self, at: int) -> str:
        """An input as an int."""
        value = self.static(at)
        if value is not None:
            return repr(int(np.reshape(value, ())))
        found = ints_of(self.block, self.node.inputs[at])
        return f"int({self[at]}.item())" if found is None else found[0]

    def shape(self, at: int) -> TensorShape:
        """What is known of an input's shape."""
        value = self.static(at)
        if value is not None:
            return TensorShape(np.shape(value))
        name, output = self.node.inputs[at]
        if name in self.block.arguments:
            return self.block.arguments[name][1]
        node = self.block.nodes.get(name)
        if node is None or node.output_shapes is None:
            return UNKNOWN
        return node.output_shapes[output]

    def sizes(self, at: int) -> list[int]:
        """An input's shape. Raises Unexportable if it is not all known."""
        shape = self.shape(at)
        if not shape.is_fully_defined():
            raise Unexportable(f"the shape of input {at} is not known")
        return [int(size) for size in shape.as_list() if size is not None]

    def input_dtype(self, at: int) -> DType:
        """The dtype of an input."""
        name, output = self.node.inputs[at]
        if name in self.block.arguments:
            return self.block.arguments[name][0]
        return self.block.nodes[name].output_types[output]

    def type(self, at: int = 0) -> str:
        """torch's name of an output's dtype."""
        return TORCH_TYPES[self.node.output_types[at]]
