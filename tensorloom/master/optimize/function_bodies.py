"""The passes in the bodies of functions: loops, branches and calls.

A body is made a graph, with its arguments as `_Arg` nodes and its results as `_Retval`
nodes, goes through the pipeline as any graph, and is made a body again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.framework.functions.called_functions import names_called
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.master.optimize.node_facts import is_stateful
from tensorloom.master.optimize.target import OptimizeTarget

_RESULT: Final = "__result_"

# The pipeline over one graph.
RunPasses = Callable[[GraphIR, OptimizeTarget], GraphIR]


def optimize_functions(
    graph: GraphIR, target: OptimizeTarget, run_passes: RunPasses
) -> GraphIR:
    """The graph with the functions that it reaches optimized.

    `target.function_cache` keeps what was optimized before, for other steps of the
    session.
    """
    reached = _reached_functions(graph)
    if not reached:
        return graph
    functions = dict(graph.functions)
    # Of one body there may be a form for steps that write through references.
    prefix = "=" if target.changes_references else ""
    for name in reached:
        function = graph.functions[name]
        if function.problem is not None:  # reported when a caller is compiled
            continue
        known = target.function_cache.get(prefix + name)
        if known is None or known[0] is not function:
            optimized = _optimize(function, graph, target, run_passes)
            known = target.function_cache[prefix + name] = function, optimized
        functions[name] = known[1]
    return GraphIR(graph.nodes, functions, graph.producer, graph.min_consumer)


def _reached_functions(graph: GraphIR) -> list[str]:
    if not graph.functions:
        return []
    reached: dict[str, None] = {}
    stack = names_called(graph.nodes.values(), graph.functions)
    while stack:
        name = stack.pop()
        if name not in reached:
            reached[name] = None
            body = graph.functions[name].nodes.values()
            stack += names_called(body, graph.functions)
    return list(reached)


def _optimize(
    function: FunctionIR, graph: GraphIR, target: OptimizeTarget, run_passes: RunPasses
) -> FunctionIR:
    body = GraphIR(_as_nodes(function), graph.functions)
    # Whoever calls a function runs its stateful nodes, needed or not.
    preserve = frozenset(
        [*function.control_returns]
        + [node.name for node in function.nodes.values() if is_stateful(node)]
    )
    inner = OptimizeTarget(
        preserve,
        target.config,
        target.evaluate,
        portable=target.portable,
        is_fast_in_half=target.is_fast_in_half,
        changes_references=target.changes_references,
        journal=target.journal and target.journal.in_function(function.name),
    )
    return _as_function(function, run_passes(body, inner))


def _as_nodes(function: FunctionIR) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    shapes = function.arg_shapes or (UNKNOWN,) * len(function.arg_names)
    for index, name in enumerate(function.arg_names):
        dtype = function.arg_types[index]
        attrs: dict[str, Any] = {"T": dtype, "index": index}
        nodes[name] = Node(name, "_Arg", (), (), "", attrs, (dtype,), (shapes[index],))
    nodes.update(function.nodes)
    for index, edge in enumerate(function.returns):
        name = f"{_RESULT}{index}"
        attrs = {"T": function.output_types[index], "index": index}
        nodes[name] = Node(name, "_Retval", (edge,), (), "", attrs, (), ())
    return nodes


def _as_function(function: FunctionIR, body: GraphIR) -> FunctionIR:
    arguments = frozenset(function.arg_names)
    nodes = {
        name: node
        for name, node in body.nodes.items()
        if name not in arguments and not name.startswith(_RESULT)
    }
    results = [
        body.nodes[f"{_RESULT}{index}"] for index in range(len(function.returns))
    ]
    # A result may have been left with the waits of an identity that was bypassed.
    waits = dict.fromkeys(
        [*function.control_returns]
        + [name for node in results for name in node.control_inputs]
    )
    returns = tuple(node.inputs[0] for node in results)
    return FunctionIR(
        function.name,
        function.arg_names,
        function.arg_types,
        function.output_names,
        function.output_types,
        nodes,
        returns,
        tuple(name for name in waits if name not in arguments),
        function.attrs,
        function.gradient,
        function.is_stateful,
        function.arg_shapes,
    )
