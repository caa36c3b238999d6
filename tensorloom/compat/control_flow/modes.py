"""Which control flow a program asks for (`tensorflow.python.ops.control_flow_util`)."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import compat

enable_control_flow_v2 = compat.enable_control_flow_v2


def EnableControlFlowV2(graph: Any) -> bool:
    """Whether control flow becomes functions in this graph."""
    return compat.control_flow_v2_enabled()


def __getattr__(name: str) -> Any:
    if name == "ENABLE_CONTROL_FLOW_V2":
        return compat.control_flow_v2_enabled()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
