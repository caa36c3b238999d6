"""Classic control flow as functions, which the worker compiles to plain loops.

before: Switch, Merge, Enter, Exit, NextIteration
after:  If and While

Loops first, from the inside out; then conds, in the graph and in the loops' bodies.
What is not structured stays, and the worker interprets it.
"""

from __future__ import annotations

from tensorloom.framework.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.tensor_shape import UNKNOWN
from tensorloom.master.functionalize.conds import functionalize_conds
from tensorloom.master.functionalize.loops import functionalize_loops
from tensorloom.master.optimize.node_facts import CONTROL_FLOW

__all__ = ["functionalize"]


def functionalize(graph: GraphIR) -> GraphIR:
    """The graph with If and While nodes in place of what is structured."""
    if not any(node.op in CONTROL_FLOW for node in graph.nodes.values()):
        return graph
    graph = functionalize_conds(functionalize_loops(graph))
    for name in list(graph.functions):
        graph = _in_body(graph, graph.functions[name])
    return graph


def _in_body(graph: GraphIR, function: FunctionIR) -> GraphIR:
    """The conds of a loop's body rewritten."""
    if not any(node.op in CONTROL_FLOW for node in function.nodes.values()):
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
    body = functionalize_conds(GraphIR(nodes, graph.functions), f"{function.name}/")
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
