"""The functions of an imported GraphDef, beside those that the graph has already.

Function names are unique in the process that made them. A GraphDef of another process
may bring a different function under a name that is taken: it gets a new name here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tensorloom.framework import function_def
from tensorloom.framework.attr_value import NameAttrList
from tensorloom.framework.scopes import uid

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import FunctionIR, Node


class ImportedFunctions:
    """Which functions an import adds, and under which names."""

    def __init__(
        self, imported: Mapping[str, FunctionIR], existing: Mapping[str, FunctionIR]
    ) -> None:
        self._names = {
            name: f"{name}_{uid()}"
            for name, function in imported.items()
            if name in existing and not _is_same(function, existing[name], imported)
        }
        self._imported = imported
        self._existing = existing

    def to_add(self) -> list[FunctionIR]:
        """The functions that the graph does not have, with their new names."""
        if not self._names:
            return [f for n, f in self._imported.items() if n not in self._existing]
        return [
            self._renamed(function)
            for name, function in self._imported.items()
            if name in self._names or name not in self._existing
        ]

    def _renamed(self, function: FunctionIR) -> FunctionIR:
        return replace(
            function,
            name=self._names.get(function.name, function.name),
            gradient=self._names.get(function.gradient, function.gradient),
            nodes={n: self.renamed_node(node) for n, node in function.nodes.items()},
        )

    def renamed_node(self, node: Node) -> Node:
        """The node with the functions that it names under their new names."""
        if not self._names:
            return node
        attrs = {key: self._renamed_attr(value) for key, value in node.attrs.items()}
        return node.replace(op=self._names.get(node.op, node.op), attrs=attrs)

    def _renamed_attr(self, value: Any) -> Any:
        if isinstance(value, NameAttrList):
            return NameAttrList(self._names.get(value.name, value.name), value.attrs)
        if isinstance(value, list) and value and isinstance(value[0], NameAttrList):
            return [self._renamed_attr(v) for v in value]
        return value


def _is_same(
    function: FunctionIR, other: FunctionIR, library: Mapping[str, FunctionIR]
) -> bool:
    if function is other:
        return True
    mine = function_def.to_proto(function, library)
    theirs = function_def.to_proto(other, library)
    return bool(
        mine.SerializeToString(deterministic=True)
        == theirs.SerializeToString(deterministic=True)
    )
