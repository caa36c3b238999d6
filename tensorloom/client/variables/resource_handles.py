"""Finds the node that a resource handle comes from, through nodes and calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.client.functions.func_graph import FuncGraph

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor

# Ops whose output number i is their input number i, for handles at least.
_PASS_THROUGH: Final = frozenset(["Identity", "IdentityN", "While", "StatelessWhile"])
# Ops of classic control flow, which hand their first input on.
_CLASSIC: Final = frozenset(["Switch", "Merge", "Enter", "Exit", "NextIteration"])


def origin_in_graph(handle: Tensor) -> Tensor:
    """The tensor of the same graph that the handle is, before it was handed on."""
    while handle._op._type in _PASS_THROUGH:
        handle = handle._op._inputs[handle._value_index]
    return handle


def is_of_variable(handle: Tensor) -> bool:
    """False for a handle that is known to be of something else than a variable."""
    while True:
        handle = origin_in_graph(handle)
        if handle._op._type in _CLASSIC:
            handle = handle._op._inputs[0]
            continue
        graph = handle._op._graph
        outside = graph.original_of(handle) if isinstance(graph, FuncGraph) else None
        if outside is None:
            break
        handle = outside
    return handle._op._type in ("VarHandleOp", "Placeholder", "_Arg")
