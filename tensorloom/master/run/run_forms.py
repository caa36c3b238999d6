"""Chooses the RPC that runs a part, by what it exchanges with the master's task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.devices.device_name import task_of
from tensorloom.transport.wire import value_methods

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR

# What a part may have that waits for nothing and takes no time.
_SOURCES: Final = frozenset(
    {
        *("Const", "Identity", "VariableV2", "VarHandleOp", "ReadVariableOp", "NoOp"),
        *("_Send", "_Arg", "_Retval"),
    }
)


def form_of(part: GraphIR, home: str, is_sequential: bool) -> int:
    """The method that runs a part which sends its tensors without being asked.

    Args:
      part: on a task of ours.
      home: the master's task.
      is_sequential: its nodes run in one thread, which does all its waiting.
    """
    if _is_source(part, home):
        return value_methods.RUN_SOURCE
    if is_sequential and _exchanges(part, home):
        return value_methods.RUN_LINKED
    return value_methods.RUN_GRAPH


def _is_source(part: GraphIR, home: str) -> bool:
    """Whether a part does little more than send variables to a task."""
    nodes = part.nodes.values()
    return all(node.op in _SOURCES for node in nodes) and any(
        node.op == "_Send" and task_of(node.attrs["recv_device"].decode()) == home
        for node in nodes
    )


def _exchanges(part: GraphIR, home: str) -> bool:
    """Whether a part sends tensors to a task, or gets some from it."""
    return any(
        task_of(node.attrs[end].decode()) == home
        for node in part.nodes.values()
        for end in ("send_device", "recv_device")
        if node.op in ("_Send", "_Recv")
    )
