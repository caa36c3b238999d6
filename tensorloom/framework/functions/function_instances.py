"""The functions that a graph calls with attrs: instances in place of templates.

before: y = Twice[T=DT_FLOAT](x)
after:  y = Twice[T=float32](x)       a function of the library, without attrs
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.errors import (
    InvalidArgumentError,
    NotFoundError,
    OpError,
    invalid_argument,
)
from tensorloom.framework.functions import function_def, function_template
from tensorloom.framework.functions.function_op_def import signature_of
from tensorloom.framework.types.attr_value import NameAttrList

if TYPE_CHECKING:
    from tensorloom.framework.functions.function_problem import FunctionProblem
    from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node

# A template may call itself with ever other attrs: functions of functions of functions.
_MAX_NESTING: Final = 16
_MAX_INSTANCES: Final = 10_000


class Instances:
    """Instances of the templates of a library, each made once."""

    def __init__(self, functions: Mapping[str, FunctionIR]) -> None:
        #: What was made, by name.
        self.made: dict[str, FunctionIR] = {}
        self._functions = functions
        self._attr_names: dict[str, frozenset[str]] = {}
        self._signatures: dict[str, Any] = {}

    def called(self, name: str, attrs: Mapping[str, Any]) -> FunctionIR | None:
        """The function of that name, or its instance; None if there is none.

        What cannot be instantiated has a problem.

        Raises:
          errors.InvalidArgumentError: there are too many, or attrs are nested too deep.
        """
        function = self._functions.get(name)
        problem = None if function is None else function.problem
        if function is None or problem is None or not problem.is_template:
            return function
        instance_name = self._name(name, attrs)
        found = self.made.get(instance_name) or self._functions.get(instance_name)
        if found is None:
            given = self.own_attrs(name, attrs)
            found = self._instance(function, problem, given, instance_name)
            self.made[instance_name] = found
            self.called(function.gradient, attrs)  # belongs to it
        return found

    def own_attrs(self, name: str, attrs: Mapping[str, Any]) -> dict[str, Any]:
        """Those of a call's attrs that a function depends on."""
        known = self._attr_names.get(name)
        if known is None:
            problem = self._functions[name].problem
            if problem is None:
                return {}
            known = function_template.attr_names(problem.definition)
            self._attr_names[name] = known
        return {key: value for key, value in attrs.items() if key in known}

    def _name(self, name: str, attrs: Mapping[str, Any]) -> str:
        return function_template.instance_name(name, self.own_attrs(name, attrs))

    def _instance(
        self,
        template: FunctionIR,
        problem: FunctionProblem,
        attrs: Mapping[str, Any],
        name: str,
    ) -> FunctionIR:
        if len(self.made) >= _MAX_INSTANCES or _nesting(attrs) > _MAX_NESTING:
            raise invalid_argument(
                f"Function '{template.name}' is called with ever other attrs"
            )
        try:
            definition = function_template.instance(problem.definition, attrs, name)
        except OpError as error:
            is_missing = isinstance(error, NotFoundError)
            broken = replace(
                problem,
                kind=NotFoundError if is_missing else InvalidArgumentError,
                message=f"Function '{template.name}': {error.message}",
                is_template=False,
                signature=None,
            )
            return replace(template, name=name, problem=broken)
        if not self._signatures:
            self._signatures = {n: signature_of(f) for n, f in self._functions.items()}
        self._signatures[name] = function_def.signature_from_proto(definition)
        return function_def.from_proto(
            definition, self._signatures, self._gradient(template.gradient, attrs)
        )

    def _gradient(self, name: str, attrs: Mapping[str, Any]) -> str:
        problem = self._functions[name].problem if name in self._functions else None
        if problem is None or not problem.is_template:
            return name
        return self._name(name, attrs)


def _nesting(attrs: Mapping[str, Any]) -> int:
    """How many functions are in the attrs of each other."""
    functions = [
        item
        for value in attrs.values()
        for item in (value if isinstance(value, list) else [value])
        if isinstance(item, NameAttrList)
    ]
    return max((1 + _nesting(f.attrs) for f in functions), default=0)


def is_template(function: FunctionIR) -> bool:
    """Whether only instances of a function can be called."""
    return function.problem is not None and function.problem.is_template


def with_instances(graph: GraphIR, functions: Mapping[str, FunctionIR]) -> GraphIR:
    """The graph with instances in place of the templates that it calls.

    Args:
      graph: nodes, and functions that may call templates too.
      functions: all functions that they may call.

    Raises:
      errors.InvalidArgumentError: a template is called with ever other attrs.
    """
    if not any(map(is_template, functions.values())):
        return graph
    return _Rewrite(functions).graph(graph)


class _Rewrite:
    """Gives calls of templates the names of instances."""

    def __init__(self, functions: Mapping[str, FunctionIR]) -> None:
        self._functions = functions
        self._instances = Instances(functions)

    def graph(self, graph: GraphIR) -> GraphIR:
        changed = graph.with_nodes(self._nodes(graph.nodes.values()))
        changed.functions = {
            name: self._function(function) for name, function in graph.functions.items()
        }
        done: dict[str, FunctionIR] = {}
        while len(done) < len(self._instances.made):
            for name, function in list(self._instances.made.items())[len(done) :]:
                done[name] = self._function(function)
        changed.functions.update(done)
        return changed

    def _function(self, function: FunctionIR) -> FunctionIR:
        nodes = self._nodes(function.nodes.values())
        if all(
            new is old for new, old in zip(nodes, function.nodes.values(), strict=True)
        ):
            return function
        return replace(function, nodes={node.name: node for node in nodes})

    def _nodes(self, nodes: Iterable[Node]) -> list[Node]:
        return [self._node(node) for node in nodes]

    def _node(self, node: Node) -> Node:
        attrs = {name: self._value(value) for name, value in node.attrs.items()}
        template = self._functions.get(node.op)
        if template is not None and is_template(template):
            called = self._instances.called(node.op, node.attrs)
            assert called is not None
            notes = {k: v for k, v in attrs.items() if k.startswith("_")}
            return node.replace(op=called.name, attrs=notes)
        if all(value is node.attrs[name] for name, value in attrs.items()):
            return node
        return node.replace(attrs=attrs)

    def _value(self, value: Any) -> Any:
        if isinstance(value, NameAttrList):
            called = self._instances.called(value.name, value.attrs)
            if called is None or called.name == value.name:
                return value
            return NameAttrList(called.name)
        if isinstance(value, list) and value and isinstance(value[0], NameAttrList):
            return [self._value(item) for item in value]
        return value
