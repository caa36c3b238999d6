"""What passes may do with a node: facts that follow from its op alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.functions.classic_op_types import (
    ENTERS,
    EXITS,
    MERGES,
    NEXT_ITERATIONS,
    SWITCHES,
)
from tensorloom.framework.registry import op_registry

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node

#: An attr of a node that has the effects of others, under their names.
STANDS_FOR: Final = "_stands_for"

# The classic control flow primitives. What they output may be dead, and a control edge
# from one of them means less than one from its consumer.
CONTROL_FLOW: Final = frozenset(
    [*SWITCHES, "_SwitchN", *MERGES, *ENTERS, *EXITS, *NEXT_ITERATIONS, "LoopCond"]
)

# What keeps the elements of its first input, and their order.
RESHAPES: Final = frozenset({"Reshape", "ExpandDims", "Squeeze"})

# Ops of the step's own plumbing, and those that raise by design.
_UNTOUCHABLE: Final = frozenset(
    [
        "_Arg",
        "_Retval",
        "_Send",
        "_Recv",
        "_HostSend",
        "_HostRecv",
        "Send",
        "Recv",
        "Placeholder",
        "PlaceholderV2",
        "PlaceholderWithDefault",
        "CheckNumerics",
        "PyFuncStateless",
        "ControlTrigger",
    ]
)

_PURE: dict[str, bool] = {}


def is_stateful(node: Node) -> bool:
    """Whether the node is run for more than its outputs; functions count as such."""
    op_def = op_registry.find(node.op)
    return op_def is None or op_def.is_stateful


def is_pure(node: Node) -> bool:
    """Whether the node's value depends on its inputs' values alone.

    Such a node may be computed ahead, merged with its equals or left out. Not pure:
    stateful ops, ops over references, function calls, control flow.
    """
    known = _PURE.get(node.op)
    if known is None:
        known = _PURE[node.op] = _find_purity(node.op)
    return known


def _find_purity(op: str) -> bool:
    op_def = op_registry.find(op)
    if op_def is None:
        # A function, maybe registered later under this name: not to be remembered
        # wrongly, it is simply never pure.
        return False
    return not (
        op_def.is_stateful
        or op in _UNTOUCHABLE
        or op in CONTROL_FLOW
        or any(arg.is_ref for arg in (*op_def.inputs, *op_def.outputs))
        or any(attr.type in ("func", "list(func)") for attr in op_def.attrs.values())
    )
