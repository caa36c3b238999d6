"""Which control flow a program asks for (`tensorflow.python.ops.control_flow_util`)."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import compat
from tensorloom.framework.functions.classic_op_types import (
    ENTERS,
    EXITS,
    MERGES,
    SWITCHES,
)

enable_control_flow_v2 = compat.enable_control_flow_v2


def EnableControlFlowV2(graph: Any) -> bool:
    """Whether control flow becomes functions in this graph."""
    return compat.control_flow_v2_enabled()


def IsSwitch(op: Any) -> bool:
    """Whether the operation is a Switch."""
    return op.type in SWITCHES


def IsMerge(op: Any) -> bool:
    """Whether the operation is a Merge."""
    return op.type in MERGES


def IsLoopEnter(op: Any) -> bool:
    """Whether the operation is an Enter."""
    return op.type in ENTERS


def IsLoopExit(op: Any) -> bool:
    """Whether the operation is an Exit."""
    return op.type in EXITS


def IsLoopConstantEnter(op: Any) -> bool:
    """Whether the operation brings in what all iterations of a loop share."""
    return IsLoopEnter(op) and bool(op.get_attr("is_constant"))


def IsInCond(op: Any) -> bool:
    """Whether the operation is in a branch of classic control flow."""
    context = op._get_control_flow_context()
    return context is not None and context.GetCondContext() is not None


def IsInWhileLoop(op: Any) -> bool:
    """Whether the operation is in a loop of classic control flow."""
    context = op._get_control_flow_context()
    return context is not None and context.GetWhileContext() is not None


def __getattr__(name: str) -> Any:
    if name == "ENABLE_CONTROL_FLOW_V2":
        return compat.control_flow_v2_enabled()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
