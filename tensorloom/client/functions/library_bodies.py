"""Functions of a graph's library as graphs again, for their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.framework import errors
from tensorloom.framework.functions.classic_op_types import NEXT_ITERATIONS
from tensorloom.framework.graph.graph_ir import sort_topologically

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.types.attr_value import NameAttrList


def called_function(graph: Graph, called: NameAttrList) -> FunctionIR:
    """The function of the library that a node calls, its attrs bound.

    Raises:
      KeyError: there is none of that name.
    """
    function = graph.functions[called.name]
    if function.problem is None:
        return function
    from tensorloom.framework.functions.function_instances import Instances

    instance = Instances(graph.functions).called(called.name, called.attrs)
    assert instance is not None
    # The graph's library has no instances: what is made of it gets a name like this.
    return replace(instance, name=called.name)


def has_classic_loop(function: FunctionIR) -> bool:
    """Whether a function's body has a loop of Enter, Merge and Exit nodes."""
    return any(node.op in NEXT_ITERATIONS for node in function.nodes.values())


def from_function(
    function: FunctionIR, inputs: Sequence[Tensor], outer_graph: Graph
) -> FuncGraph:
    """The body of a function of the library as a graph again.

    Args:
      inputs: what the call passes; all become captures.

    Raises:
      errors.InvalidArgumentError, errors.NotFoundError: it cannot be called.
    """
    function.check()
    graph = FuncGraph(function.name, outer_graph)
    arguments = [
        graph.add_argument(dtype, outside.shape, name, outside._handle_data)
        for name, dtype, outside in zip(
            function.arg_names, function.arg_types, inputs, strict=True
        )
    ]
    graph.reset_captures(zip(inputs, graph.inputs, strict=True))
    graph.outputs = add_body(graph, function, arguments)
    graph.structured_outputs = graph.outputs
    return graph


def add_body(
    graph: Graph, function: FunctionIR, arguments: Sequence[Tensor]
) -> list[Tensor]:
    """Adds the nodes of a function to a graph; returns the function's results.

    Raises:
      errors.InvalidArgumentError, errors.NotFoundError: it cannot be called.
      errors.UnimplementedError: it has a loop of classic nodes.
    """
    function.check()
    if has_classic_loop(function):
        raise errors.UnimplementedError(
            None,
            None,
            f"Function '{function.name}' has a loop of classic nodes that is not "
            "structured: it has no gradient",
        )
    tensors = {
        (name, 0): tensor
        for name, tensor in zip(function.arg_names, arguments, strict=True)
    }
    ops: dict[str, Operation] = {}
    for node in sort_topologically(function.nodes, function.arg_names):
        control = [ops[name] for name in node.control_inputs if name in ops]
        with graph.control_dependencies(control):
            op = graph.add_operation(
                graph._get_op_def(node.op),
                [tensors[ref] for ref in node.inputs],
                dict(node.attrs),
                node.name,
                node.output_types,
            )
        op._device = op._device or node.device
        op._python_gradient = function.python_gradients.get(node.name)
        ops[node.name] = op
        for i, tensor in enumerate(op._outputs):
            tensors[node.name, i] = tensor
    return [tensors[ref] for ref in function.returns]
