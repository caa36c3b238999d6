"""A program as the source of a module's `forward`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.deploy.body_nodes import Body, BodyNode
from tensorloom.deploy.program import Refusal, Unexportable
from tensorloom.deploy.sizes import ints_of
from tensorloom.deploy.torchscript.registry import WRITERS
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import UNKNOWN

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, FunctionIR, GraphIR, Node

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


class Block(Body):
    """The nodes of the graph, or of a function's body."""

    def __init__(
        self, source: Source, nodes: Mapping[str, Node], values: dict[Edge, str]
    ) -> None:
        super().__init__(nodes, values)
        self.source = source

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


class Line(BodyNode):
    """A node that is written: what its writer sees."""

    def __init__(self, block: Block, node: Node) -> None:
        super().__init__(block, node)
        self.block = block
        self.source = block.source

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

    def type(self, at: int = 0) -> str:
        """torch's name of an output's dtype."""
        return TORCH_TYPES[self.node.output_types[at]]
