"""`tensorflow.python.framework.function_def_to_graph`: a FunctionDef as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.importing.importer import import_graph_def
from tensorloom.framework.functions.function_op_def import op_def_of
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph_ir import PRODUCER_VERSION
from tensorloom.framework.registry import op_def_proto
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.protos.function_pb2 import FunctionDef
    from tensorloom.protos.graph_pb2 import GraphDef


def function_def_to_graph(
    fdef: FunctionDef,
    input_shapes: Sequence[Any] | None = None,
    copy_functions: bool = True,
) -> FuncGraph:
    """The body of a function as a graph with `inputs`, `outputs`, `control_outputs`.

    Args:
      fdef: the function.
      input_shapes: a `TensorShape` or None for each argument; what the attr
        `_input_shapes` says if left out.
      copy_functions: bring all functions of the default graph along.

    Raises:
      ValueError: there are not as many shapes as arguments, or a function that a node
        calls is not there.
    """
    if input_shapes is None and "_input_shapes" in fdef.attr:
        input_shapes = list(fdef.attr["_input_shapes"].list.shape)
    graph_def, names = function_def_to_graph_def(fdef, input_shapes, copy_functions)
    graph = FuncGraph(fdef.signature.name)
    with graph.as_default():
        import_graph_def(graph_def, name="")
    graph.inputs = [
        graph.get_tensor_by_name(names[arg.name]) for arg in fdef.signature.input_arg
    ]
    graph.outputs = [
        graph.get_tensor_by_name(names[fdef.ret[arg.name]])
        for arg in fdef.signature.output_arg
    ]
    graph.structured_outputs = graph.outputs
    graph.control_outputs = [
        graph.get_operation_by_name(fdef.control_ret[name])
        for name in fdef.signature.control_output
    ]
    return graph


def function_def_to_graph_def(
    fdef: FunctionDef,
    input_shapes: Sequence[Any] | None = None,
    copy_functions: bool = True,
) -> tuple[GraphDef, dict[str, str]]:
    """The body of a function as a GraphDef, with a Placeholder for each argument.

    The second result says what the GraphDef calls each tensor (`node:argument:index`
    in a function) and each control input.

    Raises:
      ValueError: as `function_def_to_graph`.
    """
    from tensorloom.protos.graph_pb2 import GraphDef

    arguments = fdef.signature.input_arg
    if input_shapes and len(input_shapes) != len(arguments):
        raise ValueError(
            "Length of input_shapes must match the number of input_args. "
            f"len(input_shapes): {len(input_shapes)} len(input_arg): {len(arguments)}"
        )
    graph = get_default_graph()
    graph_def = GraphDef()
    graph_def.versions.producer = PRODUCER_VERSION
    if copy_functions:
        graph._copy_functions_to_graph_def(graph_def, 0)
    for i, argument in enumerate(arguments):
        shape = input_shapes[i] if input_shapes else None
        _add_placeholder(graph_def.node.add(), argument, shape, fdef.arg_attr[i].attr)
    graph_def.node.extend(fdef.node_def)
    names = {argument.name: f"{argument.name}:0" for argument in arguments}
    copied = {function.signature.name for function in graph_def.library.function}
    for node in fdef.node_def:
        op_def = _op_def(graph, node.op)
        _check_called(graph, op_def, node)
        if node.op in graph.functions and node.op not in copied:
            copied.add(node.op)
            functions = graph.as_graph_def().library.function
            graph_def.library.function.extend(
                each for each in functions if each.signature.name == node.op
            )
        names.update(_output_names(op_def, node))
    names.update({f"^{node.name}": f"^{node.name}" for node in graph_def.node})
    for node in graph_def.node:
        for i, reference in enumerate(node.input):
            node.input[i] = names[reference]
    return graph_def, names


def _add_placeholder(node: Any, argument: Any, shape: Any, attrs: Any) -> None:
    node.name, node.op = argument.name, "Placeholder"
    node.attr["dtype"].type = argument.type
    if shape is not None:
        shape = shape.as_proto() if isinstance(shape, TensorShape) else shape
        node.attr["shape"].shape.CopyFrom(shape)
    for name, value in attrs.items():
        if name.startswith("_"):  # others are none of a Placeholder's
            node.attr[name].CopyFrom(value)


def _op_def(graph: Graph, op: str) -> Any:
    """The OpDef message of an op or a function."""
    function = graph.functions.get(op)
    if function is None:
        return op_def_proto.to_proto(graph._get_op_def(op))
    function.check()
    return op_def_proto.to_proto(op_def_of(function))


def _check_called(graph: Graph, op_def: Any, node: Any) -> None:
    for attr in op_def.attr:
        value = node.attr.get(attr.name)
        called = []
        if attr.type == "func" and value is not None:
            called = [value.func]
        elif attr.type == "list(func)" and value is not None:
            called = list(value.list.func)
        for function in called:
            if function.name not in graph.functions:
                raise ValueError(f"{function.name} function not found.")


def _output_names(op_def: Any, node: Any) -> dict[str, str]:
    """`node:index` for each `node:argument:index` of the outputs of a node."""
    names = {}
    counted = 0
    for argument in op_def.output_arg:
        number = 1
        if argument.number_attr:
            number = node.attr[argument.number_attr].i
        elif argument.type_list_attr:
            number = len(node.attr[argument.type_list_attr].list.type)
        for i in range(number):
            names[f"{node.name}:{argument.name}:{i}"] = f"{node.name}:{counted}"
            counted += 1
    return names
