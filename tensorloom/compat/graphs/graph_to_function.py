"""`tensorflow.python.framework.graph_to_function_def`: operations as a FunctionDef."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.protos.function_pb2 import FunctionDef


def graph_to_function_def(
    graph: Graph,
    operations: Iterable[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    out_names: Sequence[str] | None = None,
) -> FunctionDef:
    """A function whose body are operations of a graph. Its name is `_`.

    Args:
      graph: the graph.
      operations: those of the body. Operations that make one of the inputs stay out.
      inputs: the function's arguments.
      outputs: its results.
      out_names: the names of the results; those of their tensors if left out.

    Raises:
      errors.InvalidArgumentError: there are not as many names as outputs.
      ValueError: two outputs have one name.
      KeyError: an operation takes a tensor that is neither made by one of the graph's
        operations nor an input.
    """
    from tensorloom.protos.function_pb2 import FunctionDef

    _check_names(outputs, out_names)
    function = FunctionDef()
    function.signature.name = "_"
    _add_arguments(function.signature.input_arg, inputs, None)
    _add_arguments(function.signature.output_arg, outputs, out_names)
    names = _names_in_body(graph, inputs)
    for tensor, argument in zip(inputs, function.signature.input_arg, strict=True):
        names[_reference(tensor)] = argument.name
    given = {tensor.op for tensor in inputs}
    for op in operations:
        if op not in given:
            _add_node(function, op, names)
    for tensor, result in zip(outputs, function.signature.output_arg, strict=True):
        function.ret[result.name] = names[_reference(tensor)]
    return function


def _check_names(outputs: Sequence[Tensor], names: Sequence[str] | None) -> None:
    if names is None:
        return
    if len(names) != len(outputs):
        raise errors.InvalidArgumentError(
            None,
            None,
            "output names must be either empty or equal in size to outputs. "
            f"output names size = {len(names)} outputs size = {len(outputs)}",
        )
    if len(set(names)) < len(names):
        raise ValueError(f"Must not have duplicates in out_names: {', '.join(names)}")


def _add_arguments(
    field: Any, tensors: Sequence[Tensor], names: Sequence[str] | None
) -> None:
    """Fills the arguments or results of a signature, each with a name of its own."""
    taken: set[str] = set()
    for i, tensor in enumerate(tensors):
        wanted = re.sub(":0$", "", tensor.name).replace(":", "_o")
        name = wanted if names is None else names[i]
        number = 0
        while names is None and name in taken:
            name = f"{wanted}_U{number}"
            number += 1
        taken.add(name)
        field.add(name=name, type=tensor.dtype.as_datatype_enum)


def _reference(tensor: Tensor) -> str:
    """How the input of a node names a tensor."""
    return tensor.name.removesuffix(":0")


def _names_in_body(graph: Graph, inputs: Sequence[Tensor]) -> dict[str, str]:
    """What a function calls the tensors of a graph: `node:argument:index`."""
    from tensorloom.framework.registry.op_registry import arg_types

    given = {tensor.op for tensor in inputs}
    names = {}
    for op in graph.get_operations():
        if op in given:
            names[op.name] = op.name
            continue
        counted = 0
        for arg in op._op_def.outputs:
            for index in range(len(arg_types(arg, op.attrs))):
                reference = f"{op.name}:{counted}".removesuffix(":0")
                names[reference] = f"{op.name}:{arg.name}:{index}"
                counted += 1
    return names


def _add_node(function: FunctionDef, op: Operation, names: dict[str, str]) -> None:
    node = function.node_def.add()
    node.CopyFrom(op.node_def)
    for i, reference in enumerate(node.input):
        if not reference.startswith("^"):
            node.input[i] = names[reference]
    if op.op_def.is_stateful:
        function.signature.is_stateful = True
