"""Functions of a library that cannot be called as they are, and why.

Graphs carry functions for other devices and other programs. As in TensorFlow, what
nobody calls may be wrong, with ops that are not known here; it is kept as it came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tensorloom.framework.types import attr_value

if TYPE_CHECKING:
    from tensorloom.framework.errors import InvalidArgumentError, NotFoundError
    from tensorloom.framework.registry.op_registry import OpDef


@dataclass(frozen=True, slots=True, eq=False)
class FunctionProblem:
    """Why a function cannot be called."""

    kind: type[InvalidArgumentError] | type[NotFoundError]  # what a call raises
    message: str  # names the function, and the node and op that are wrong
    definition: Any  # the FunctionDef as it came, which is written as it is
    #: Whether a call can be imported and fails when it runs: TensorFlow looks at attrs
    #: that say nothing of dtypes when it makes kernels.
    is_late: bool = False
    #: Whether the dtypes of arguments and results are known.
    has_signature: bool = True
    #: Whether it can be called with attrs: then a call means one of its instances.
    is_template: bool = False
    #: The definition of such calls, if arguments or results depend on the attrs.
    signature: OpDef | None = None

    def error(self) -> InvalidArgumentError | NotFoundError:
        """What a call raises."""
        return self.kind(
            None,
            None,
            f"{self.message}\nNothing can call the function as it is: mend it, or "
            "export the graph without what calls it.",
        )

    def names(self) -> Iterator[str]:
        """What the nodes name that may be functions."""
        return names_in(self.definition.node_def)

    def renamed(self, names: Mapping[str, str]) -> FunctionProblem:
        """The same, with functions that the definition names under other names."""
        definition = type(self.definition)()
        definition.CopyFrom(self.definition)
        for node in definition.node_def:
            node.op = names.get(node.op, node.op)
            for function in functions_in(node):
                function.name = names.get(function.name, function.name)
        return replace(self, definition=definition)


def names_in(nodes: Any) -> Iterator[str]:
    """What NodeDefs name that may be functions: their ops, and those in their attrs."""
    for node in nodes:
        yield node.op
        for function in functions_in(node):
            yield function.name


def functions_in(node: Any) -> Iterator[Any]:
    """The `NameAttrList`s in the attrs of a message."""
    for value in node.attr.values():
        for function in attr_value.functions_in(value):
            yield function
            yield from functions_in(function)
