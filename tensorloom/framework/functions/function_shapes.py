"""Static shapes of a call's results: inferred through the body of the function."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import HandleData
    from tensorloom.framework.types.tensor_shape import TensorShape

# Functions that call each other without end have no shapes.
_MAX_DEPTH: Final = 16

Known = tuple["TensorShape", "HandleData | None"]


def of_call(
    graph: Graph, name: str, arguments: Sequence[Known]
) -> Sequence[Known] | None:
    """Shapes of the results of a function of the graph, called with such arguments.

    None where the function is not in the library, or its body does not take the
    arguments: what is wrong then will be said when it runs.
    """
    function = graph._functions.get(name)
    if function is None or len(function.arg_types) != len(arguments):
        return None
    if function.problem is not None:
        return None
    if graph._call_depth >= _MAX_DEPTH:
        return None
    key = (name, tuple(map(_key, arguments)))
    if key not in graph._call_shapes:
        try:
            graph._call_shapes[key] = _through_body(graph, function, arguments)
        except (ValueError, KeyError, TypeError):
            graph._call_shapes[key] = None
    return graph._call_shapes[key]


def _key(known: Known) -> Hashable:
    shape, handle = known
    held = handle and (handle.dtype, handle.shape.dims_tuple)
    return shape.dims_tuple, held


def _through_body(
    graph: Graph, function: FunctionIR, arguments: Sequence[Known]
) -> Sequence[Known]:
    body = graph._new_body()
    tensors = {
        (name, 0): _argument(body, i, function, arguments[i])
        for i, name in enumerate(function.arg_names)
    }
    for node in function.nodes.values():
        attrs = dict(node.attrs)
        attrs.pop("_output_shapes", None)
        attrs.pop("_class", None)
        op = body.add_operation(
            body._get_op_def(node.op),
            [tensors[source] for source in node.inputs],
            attrs,
            node.name,
            node.output_types,
        )
        tensors.update(((node.name, i), t) for i, t in enumerate(op._outputs))
    results = [tensors[source] for source in function.returns]
    return [(t._shape, t._handle_data) for t in results]


def _argument(body: Graph, index: int, function: FunctionIR, known: Known) -> Tensor:
    shape, handle = known
    attrs = {
        "T": function.arg_types[index],
        "index": index,
        "_output_shapes": [shape],
    }
    op = body.add_operation(body._get_op_def("_Arg"), [], attrs, f"arg_{index}")
    tensor: Tensor = op._outputs[0]
    tensor._handle_data = handle
    return tensor
