"""A graph of what has a dtype: attrs of nodes, and what flows between them.

A node may have several: `FusedBatchNormV2` one for its data and one for its statistics.
A tensor connects the attr that says its dtype where it is made with the one that says
it where it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.framework.registry import op_registry

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.types.dtypes import DType


class Typed(NamedTuple):
    """A dtype of a node: by the attr that has it, or by no attr if it is fixed."""

    node: str
    attr: str  # empty for arguments of a fixed dtype
    place: int = -1  # in a list of dtypes

    def dtype(self, attrs: Mapping[str, Any]) -> DType | None:
        """The dtype; None for a fixed one."""
        if not self.attr:
            return None
        value = attrs[self.attr]
        return value if self.place < 0 else value[self.place]  # type: ignore[no-any-return]


class TypedGraph:
    """The dtypes of all nodes of a graph, and how they are connected."""

    def __init__(self, graph: GraphIR) -> None:
        self.inputs: dict[str, list[Typed]] = {}
        self.outputs: dict[str, list[Typed]] = {}
        self.all: dict[Typed, None] = {}
        self.before: dict[Typed, list[Typed]] = {}
        self.after: dict[Typed, list[Typed]] = {}
        for node in graph.nodes.values():
            op_def = op_registry.find(node.op)
            if op_def is None:  # a call of a function
                continue
            self.inputs[node.name] = _ports(node, op_def.inputs)
            self.outputs[node.name] = _ports(node, op_def.outputs)
            for one in (*self.inputs[node.name], *self.outputs[node.name]):
                self.all[one] = None
        for node in graph.nodes.values():
            for (name, index), reads in zip(
                node.inputs, self.inputs.get(node.name, ()), strict=False
            ):
                if name in self.outputs:
                    made = self.outputs[name][index]
                    self.after.setdefault(made, []).append(reads)
                    self.before.setdefault(reads, []).append(made)

    def reached(
        self,
        roots: Iterable[Typed],
        directions: Sequence[Mapping[Typed, list[Typed]]],
        enters: Callable[[Typed], bool],
    ) -> set[Typed]:
        """The roots, and what is reached from them through what may be entered."""
        found = set(roots)
        stack = list(found)
        while stack:
            one = stack.pop()
            for connected in directions:
                for other in connected.get(one, ()):
                    if other not in found and enters(other):
                        found.add(other)
                        stack.append(other)
        return found


def _ports(node: Node, arguments: Iterable[Any]) -> list[Typed]:
    """What says the dtype of each tensor of some arguments."""
    found: list[Typed] = []
    for argument in arguments:
        if argument.type_list_attr:
            count = len(node.attrs[argument.type_list_attr])
            found += [
                Typed(node.name, argument.type_list_attr, i) for i in range(count)
            ]
        else:
            count = node.attrs[argument.number_attr] if argument.number_attr else 1
            found += [Typed(node.name, argument.type_attr)] * count
    return found
