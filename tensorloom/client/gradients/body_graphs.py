"""The functions of a call, a branching or a loop node as graphs that gradients extend.

They belong to one node: its gradient makes them give more results than before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.client.functions import library_bodies

if TYPE_CHECKING:
    from tensorloom.client.functions.func_graph import FuncGraph
    from tensorloom.framework.graph.operation import Operation


def call_graph(op: Operation) -> FuncGraph:
    """The body as a graph of this call alone: it may come to hand out more."""
    body: FuncGraph | None = op.__dict__.get("_body_graph")
    if body is None:
        function = library_bodies.called_function(op.graph, op._attrs["f"])
        body = library_bodies.from_function(function, op.inputs, op.graph)
        body.is_changed = False
        body.has_plain_gradients |= function.is_imported
        op.__dict__["_body_graph"] = body
    return body


def branch_graphs(op: Operation) -> Sequence[FuncGraph]:
    """The graphs of the branches, rebuilt from the library for an imported node."""
    graphs: Sequence[FuncGraph] | None = op.__dict__.get("_branch_graphs")
    if graphs is None:
        if "branches" in op._attrs:
            functions = op._attrs["branches"]
        else:
            functions = [op._attrs["then_branch"], op._attrs["else_branch"]]
        inputs = op.inputs[1:]
        graphs = op.__dict__["_branch_graphs"] = tuple(
            library_bodies.from_function(
                library_bodies.called_function(op.graph, f), inputs, op.graph
            )
            for f in functions
        )
    return graphs


def loop_graphs(op: Operation) -> tuple[FuncGraph, FuncGraph]:
    """Test and body as graphs, rebuilt from the library for an imported node."""
    graphs: tuple[FuncGraph, FuncGraph] | None = op.__dict__.get("_loop_graphs")
    if graphs is None:
        cond, body = (
            library_bodies.called_function(op.graph, op._attrs[name])
            for name in ("cond", "body")
        )
        graphs = op.__dict__["_loop_graphs"] = (
            library_bodies.from_function(cond, op.inputs, op.graph),
            library_bodies.from_function(body, op.inputs, op.graph),
        )
    return graphs
