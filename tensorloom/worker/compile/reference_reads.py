"""Keeps reads of reference variables valid when an Assign resizes the variable.

An Identity of a reference shares the variable's buffer. An Assign of as many elements
writes into this buffer, so what reads later sees the new value; an Assign of another
number of elements gives the variable a new buffer, and the Identity keeps the old one.
Programs that grow a variable rely on the second:

    old = array.value()
    with control_dependencies([assign(array, zeros([2 * n]), validate_shape=False)]):
        array[:n].assign(old)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.framework.runtime.resource import Variable

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, Node


class HeldRead(Variable):
    """The buffer that a variable had when it was read."""

    def __init__(self, variable: Variable, value: Any) -> None:
        # Nothing of the base class: the facts are those of `variable`.
        self._variable = variable
        self._held = value

    @property
    def value(self) -> Any:
        """What the buffer holds now; it keeps its shape."""
        now, held = self._variable.value_between_updates(), self._held
        if now is None or math.prod(now.shape) != math.prod(held.shape):
            return held
        return now if now.shape == held.shape else now.reshape(held.shape)

    def value_between_updates(self) -> Any:
        """The same value, after an update in progress."""
        return self.value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._variable, name)


def may_resize(nodes: Iterable[Node], functions: Mapping[str, FunctionIR]) -> bool:
    """Whether a node, of a function too, may change a variable's number of elements."""
    return _any_resizes(nodes) or any(
        _any_resizes(function.nodes.values()) for function in functions.values()
    )


def _any_resizes(nodes: Iterable[Node]) -> bool:
    return any(
        n.op == "Assign" and not n.attrs.get("validate_shape", True) for n in nodes
    )
