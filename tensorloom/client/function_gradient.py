"""The gradient of a call of a function: a call of the function's gradient.

The gradient function computes the function's body again from its arguments, and goes
back through it; so a call needs no further outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client import func_graph
from tensorloom.client.func_graph import FuncGraph
from tensorloom.client.gradient_graph import gradient_scope
from tensorloom.client.gradient_walk import is_trainable
from tensorloom.framework.default_stack import get_default_graph
from tensorloom.framework.gradient_registry import RegisterGradient
from tensorloom.framework.tensor_conversion import convert_to_tensor
from tensorloom.ops import functional_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import FunctionIR
    from tensorloom.framework.operation import Operation
    from tensorloom.framework.tensor import Tensor

# By function name: a Python function (op, *grads) -> gradients of the inputs.
python_gradients: dict[str, Callable[..., Any]] = {}


@RegisterGradient("PartitionedCall")
@RegisterGradient("StatefulPartitionedCall")
def _call_grad(op: Operation, *grads: Any) -> Any:
    return of_call(op._attrs["f"].name)(op, *grads)


def of_call(name: str) -> Callable[..., Any]:
    """The gradient function of calls of the function `name`."""

    def gradient(op: Operation, *grads: Any) -> Any:
        written = python_gradients.get(name)
        if written is not None:
            return written(op, *grads)
        function = get_default_graph().functions[name]
        if function.gradient:
            inputs = [*op.inputs, *(convert_to_tensor(g) for g in grads)]
            return _call(function.gradient, inputs, [t.dtype for t in op.inputs])
        return _symbolic(op, function, grads)

    return gradient


def _call(name: str, inputs: list[Tensor], types: list[Any]) -> list[Tensor]:
    op = functional_ops.call_op(
        "PartitionedCall",
        inputs,
        "SymbolicGradient",
        f=functional_ops.named(name),
        Tout=types,
    )
    return op.outputs


def _symbolic(op: Operation, function: FunctionIR, grads: Any) -> list[Any]:
    from tensorloom.client.gradients import build_gradients

    scope = gradient_scope()
    given = [(i, convert_to_tensor(g)) for i, g in enumerate(grads) if g is not None]
    graph = FuncGraph(func_graph.unique_gradient_name(function.name))
    arguments = [
        graph.add_argument(t.dtype, t.shape, name, t._handle_data)
        for name, t in zip(function.arg_names, op.inputs, strict=True)
    ]
    grad_arguments = [graph.add_argument(g.dtype, g.shape, "grad_ys") for _, g in given]
    with graph.as_default():
        results = func_graph.add_body(graph, function, arguments)
        pairs = [
            (results[i], g)
            for (i, _), g in zip(given, grad_arguments, strict=True)
            if is_trainable(results[i])
        ]
        found = build_gradients(
            [y for y, _ in pairs], arguments, [g for _, g in pairs], name=scope
        )
        wanted = [i for i, g in enumerate(found) if g is not None]
        graph.outputs = [graph.capture(convert_to_tensor(found[i])) for i in wanted]
    gradients: list[Any] = [None] * len(arguments)
    if not wanted:
        return gradients
    get_default_graph().add_function(graph.to_function())
    inputs = [*op.inputs, *(g for _, g in given), *graph.external_captures]
    outputs = _call(graph.name, inputs, [t.dtype.base_dtype for t in graph.outputs])
    for i, outside, inside in zip(wanted, outputs, graph.outputs, strict=True):
        outside._shape = inside._shape
        gradients[i] = outside
    return gradients
