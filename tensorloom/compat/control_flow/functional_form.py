"""`tensorflow.python.ops.control_flow_util_v2`: control flow as functions."""

from __future__ import annotations

from typing import Any

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.settings import config
from tensorloom.framework.graph.default_graph import get_default_graph


def in_defun() -> bool:
    """Whether the default graph is a function's, or of a branch or loop in one."""
    graph: Any = get_default_graph()
    while isinstance(graph, FuncGraph) and graph.is_control_flow:
        graph = graph.outer_graph
    return isinstance(graph, FuncGraph)


def __getattr__(name: str) -> Any:
    if name == "_EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE":
        return config.outputs_all_intermediates()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
