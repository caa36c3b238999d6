"""The functions of an imported GraphDef, beside those that the graph has already.

Function names are unique in the process that made them. A GraphDef of another process
may bring a different function under a name that is taken: it gets a new name here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tensorloom.framework.functions import function_def
from tensorloom.framework.functions.called_functions import names_of
from tensorloom.framework.functions.function_instances import Instances
from tensorloom.framework.functions.functional_op_types import CALLS
from tensorloom.framework.runtime.scopes import uid
from tensorloom.framework.types.attr_value import NameAttrList

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, Node


class ImportedFunctions:
    """Which functions an import adds, and under which names."""

    def __init__(
        self,
        imported: Mapping[str, FunctionIR],
        gradients: Iterable[Any],
        existing: Mapping[str, FunctionIR],
    ) -> None:
        """Compares what is imported with what is there.

        Args:
          imported: the functions of the GraphDef, by name.
          gradients: the `GradientDef`s of its library.
          existing: the functions of the graph, by name.

        Raises:
          ValueError: a gradient's functions are not in the library, or a function has
            several gradients.
        """
        _check_gradients(imported, gradients)
        others = {
            name
            for name, function in imported.items()
            if name in existing and not _is_same(function, existing[name], imported)
        }
        others = _with_callers(others, imported)
        self._names = {name: f"{name}_{uid()}" for name in imported if name in others}
        self._instances = Instances({**existing, **imported})
        self._imported = imported
        self._existing = existing

    def check_called(self, nodes: Iterable[Node]) -> None:
        """The functions that nodes call can be called.

        As in TensorFlow, those of branches and loops are looked at when they run.

        Raises:
          InvalidArgumentError, NotFoundError: one of them, or of those that they call,
            cannot.
        """
        if all(function.problem is None for function in self._imported.values()):
            return
        seen: set[str] = set()
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            called = node.attrs["f"] if node.op in CALLS else None
            called = called or NameAttrList(node.op, node.attrs)
            if called.name not in self._imported:
                continue
            function = self._instances.called(called.name, called.attrs)
            if function is not None and function.name not in seen:
                function.check_instantiation()
                seen.add(function.name)
                waiting += function.nodes.values()

    def to_add(self) -> list[FunctionIR]:
        """The functions that the graph does not have, with their new names."""
        if not self._names:
            return [
                replace(function, is_imported=True)
                for name, function in self._imported.items()
                if name not in self._existing
            ]
        return [
            self._renamed(function)
            for name, function in self._imported.items()
            if name in self._names or name not in self._existing
        ]

    def _renamed(self, function: FunctionIR) -> FunctionIR:
        problem = function.problem
        return replace(
            function,
            problem=None if problem is None else problem.renamed(self._names),
            is_imported=True,
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
            attrs = {key: self._renamed_attr(v) for key, v in value.attrs.items()}
            return NameAttrList(self._names.get(value.name, value.name), attrs)
        if isinstance(value, list) and value and isinstance(value[0], NameAttrList):
            return [self._renamed_attr(v) for v in value]
        return value


def _check_gradients(functions: Mapping[str, FunctionIR], gradients: Any) -> None:
    known: dict[str, str] = {}
    for item in gradients:
        for name in (item.function_name, item.gradient_func):
            if name not in functions:
                raise ValueError(
                    f"The library has a gradient of '{item.function_name}', and no "
                    f"function '{name}'"
                )
        if known.setdefault(item.function_name, item.gradient_func) != (
            item.gradient_func
        ):
            raise ValueError(
                f"Function '{item.function_name}' has two gradients: "
                f"'{known[item.function_name]}' and '{item.gradient_func}'"
            )


def _with_callers(names: set[str], library: Mapping[str, FunctionIR]) -> set[str]:
    """Functions, and those that come to call one of them."""
    found = names
    while found:
        found = {
            name
            for name, function in library.items()
            if name not in names and not found.isdisjoint(_names_in(function))
        }
        names = names | found
    return names


def _names_in(function: FunctionIR) -> Iterator[str]:
    yield function.gradient
    for node in function.nodes.values():
        yield from names_of(node)
    if function.problem is not None:
        yield from function.problem.names()


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
