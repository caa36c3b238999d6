"""Classic control flow as functions, which the worker compiles to plain loops.

before: Switch, Merge, Enter, Exit, NextIteration
after:  If and While

Loops first, from the inside out; then conds, in the graph and in the loops' bodies.
What is not structured stays, and the worker interprets it.
"""

from __future__ import annotations

from collections.abc import Mapping

from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.master.functionalize.conds import functionalize_conds
from tensorloom.master.functionalize.loops import functionalize_loops
from tensorloom.master.optimize.node_facts import CONTROL_FLOW
from tensorloom.master.prepare.shape_propagation import with_shapes

__all__ = ["functionalize", "with_shapes_inside"]


def functionalize(graph: GraphIR) -> GraphIR:
    """The graph with If and While nodes in place of what is structured."""
    if not _is_classic(graph.nodes) and not any(
        _is_classic(function.nodes) for function in graph.functions.values()
    ):
        return graph
    graph = functionalize_conds(functionalize_loops(graph))
    pending = list(graph.functions)
    while pending:
        changed = _in_body(graph, graph.functions[pending.pop()])
        # What was a loop in the body has a body of its own now.
        pending += [name for name in changed.functions if name not in graph.functions]
        graph = changed
    return graph


def with_shapes_inside(before: GraphIR, functional: GraphIR) -> GraphIR:
    """What `functionalize` made of a graph, with the shapes in its new functions."""
    if functional is before or _is_classic(functional.nodes):
        return functional  # shapes inside are for the worker to find
    return with_shapes(functional, functional.functions.keys() - before.functions)


def _is_classic(nodes: Mapping[str, Node]) -> bool:
    return any(node.op in CONTROL_FLOW for node in nodes.values())


def _in_body(graph: GraphIR, function: FunctionIR) -> GraphIR:
    """The graph with the control flow in one function rewritten."""
    if function.problem is not None or not _is_classic(function.nodes):
        return graph
    nodes = {
        name: Node(
            name, "_Arg", (), (), "", {"T": dtype, "index": i}, (dtype,), (UNKNOWN,)
        )
        for i, (name, dtype) in enumerate(
            zip(function.arg_names, function.arg_types, strict=True)
        )
    }
    nodes.update(function.nodes)
    body = functionalize_conds(
        functionalize_loops(GraphIR(nodes, graph.functions)), f"{function.name}/"
    )
    if not _keeps_results(function, body):
        return graph
    changed = FunctionIR(
        function.name,
        function.arg_names,
        function.arg_types,
        function.output_names,
        function.output_types,
        {n: node for n, node in body.nodes.items() if node.op != "_Arg"},
        function.returns,
        function.control_returns,
        function.attrs,
        function.gradient,
        function.is_stateful,
        function.arg_shapes,
    )
    functions = {**body.functions, function.name: changed}
    return GraphIR(graph.nodes, functions, graph.producer, graph.min_consumer)


def _keeps_results(function: FunctionIR, body: GraphIR) -> bool:
    """Whether all that the function gives or promises to run is there as before."""
    return all(
        name in body.nodes and index < len(body.nodes[name].output_types)
        for name, index in function.returns
    ) and all(name in body.nodes for name in function.control_returns)
