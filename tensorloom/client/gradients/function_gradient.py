"""The gradient of a call of a function: a call of the function's gradient.

A PartitionedCall comes to hand out what the gradient reads of its body. The gradient
of a Defun's call (a node whose op is the function) computes the body again from its
arguments, as TensorFlow's does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions import func_graph, library_bodies
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.gradients import body_graphs, graph_mutation
from tensorloom.client.gradients.gradient_graph import GradientGraph, gradient_scope
from tensorloom.client.gradients.gradient_zeros import is_trainable, takes_number_zeros
from tensorloom.client.gradients.gradients import build_gradients
from tensorloom.framework.functions import symbolic_gradient
from tensorloom.framework.functions.classic_op_types import MERGES
from tensorloom.framework.functions.functional_op_types import CALLS
from tensorloom.framework.functions.symbolic_gradient import MadeGradient
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import create_op
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import functional as functional_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


@RegisterGradient("PartitionedCall")
@RegisterGradient("StatefulPartitionedCall")
def _call_grad(op: Operation, *grads: Any) -> Any:
    """A call of the body's gradient; what that reads of it, the call hands out.

    Also of a node whose op is a function of the library.
    """
    if op._type not in CALLS:
        return of_call(NameAttrList(op._type, op._attrs))(op, *grads)
    called = op._attrs["f"]
    name = called.name
    if _python_gradient(op) is not None or op.graph.functions[name].gradient:
        return of_call(called)(op, *grads)
    body = library_bodies.called_function(op.graph, called)
    # The tensors of a branch that is not taken are dead: a call cannot hand them out.
    if any(node.op in MERGES for node in body.nodes.values()):
        return _node(op, called, grads)
    forward = body_graphs.call_graph(op)
    given = [
        (forward.outputs[i], convert_to_tensor(g))
        for i, g in enumerate(grads)
        if g is not None and is_trainable(forward.outputs[i])
    ]
    gradients: list[Any] = [None] * len(op.inputs)
    if not given:
        return gradients
    graph = CallGradient(func_graph.unique_gradient_name(forward.name), forward, op)
    found = graph.differentiate(given, gradient_scope())
    _rewrite_if_changed(op, forward)
    outputs = _call_gradient(graph, [g for _, g in given], op)
    for index, gradient in found.items():
        if isinstance(gradient, IndexedSlices):
            gradients[index] = IndexedSlices(*(outputs.pop(0) for _ in range(3)))
        else:
            gradients[index] = outputs.pop(0)
    return gradients


def _rewrite_if_changed(op: Operation, body: FuncGraph) -> None:
    if len(body.outputs) == len(op._attrs["Tout"]) and not body.is_changed:
        return
    types = [t.dtype.base_dtype for t in body.outputs]
    names = graph_mutation.replace_functions(
        op, (body,), {"Tout": types}, keep_stateful=True
    )
    op._attrs["f"] = functional_ops.named(names[0])


def _call_gradient(
    graph: CallGradient, grads: list[Tensor], forward: Operation
) -> list[Tensor]:
    """Adds the call of the gradient function; returns its outputs.

    In TensorFlow the forward call hands out all that the gradient reads of the body,
    constants and arguments as well. So a gradient that reads any of it makes the
    forward call run, with what it writes, also in a step that needs no more than that.
    """
    outer = get_default_graph()
    outer.add_function(graph.to_function(keep_stateful=True))
    kind = "StatefulPartitionedCall" if graph.is_stateful else "PartitionedCall"
    runs_forward = (
        graph.reads_forward and has_effects(forward) and forward.graph is outer
    )
    with outer.control_dependencies([forward] if runs_forward else []):
        backward = functional_ops.call_op(
            kind,
            [*grads, *graph.external_captures],
            kind,
            f=functional_ops.named(graph.name),
            Tout=[t.dtype.base_dtype for t in graph.outputs],
        )
    for inside, outside in zip(graph.outputs, backward.outputs, strict=True):
        outside._shape = inside._shape
        outside._handle_data = inside._handle_data
    return list(backward.outputs)


def has_effects(call: Operation) -> bool:
    """Whether the call of a function does more than compute its results."""
    return call._type == "StatefulPartitionedCall"


class CallGradient(GradientGraph):
    """The gradient of a function's body, for one call of it.

    Its arguments are gradients of results; what it reads of the body it captures from
    the call's inputs and outputs.
    """

    def differentiate(
        self, given: Sequence[tuple[Tensor, Tensor]], scope: str
    ) -> dict[int, Any]:
        """Builds the gradients of the body's inputs; those that there are, by index."""
        with self.as_default():
            grad_ys = [
                self.add_argument(g.dtype, g.shape, f"grad_ys_{i}", g._handle_data)
                for i, (_, g) in enumerate(given)
            ]
            found = build_gradients(
                [y for y, _ in given],
                self.forward.inputs,
                grad_ys,
                name=scope,
                source_graph=self.forward,
            )
            results: dict[int, Any] = {}
            for index, gradient in enumerate(found):
                if gradient is None or not is_trainable(self.forward.inputs[index]):
                    continue
                if isinstance(gradient, IndexedSlices) and gradient.dense_shape is None:
                    gradient = convert_to_tensor(gradient)
                results[index] = gradient
            flat = nest.flatten(list(results.values()), expand_composites=True)
            self.outputs = [self.capture(identity_ops.identity(t)) for t in flat]
        return results

    def outside_value(self, tensor: Tensor) -> Tensor | None:
        """See `GradientGraph`; a call with effects hands out its arguments, too.

        So a gradient of this gradient makes the call run, as in TensorFlow.
        """
        outside = super().outside_value(tensor)
        if (
            outside is None
            or outside._op is self.op
            or not has_effects(self.op)
            or tensor._dtype in (dtypes.resource, dtypes.variant)
        ):
            return outside
        return None

    def intermediate(self, tensor: Tensor) -> Tensor:
        """A further output of the call."""
        self.forward.outputs.append(tensor)
        return FuncGraph.capture(self, graph_mutation.add_output(self.op, tensor))


def _python_gradient(op: Operation) -> Callable[..., Any] | None:
    """The Python function that makes the gradient of this call, if one does."""
    return None if op.graph.has_plain_gradients else op._python_gradient


def of_call(called: NameAttrList) -> Callable[..., Any]:
    """The gradient function of calls of a function, with these attrs."""

    def gradient(op: Operation, *grads: Any) -> Any:
        own_gradient = _python_gradient(op)
        if own_gradient is not None:
            return own_gradient(op, *grads)
        graph = get_default_graph()
        own = graph.functions[called.name].gradient
        if own:
            from tensorloom.framework.functions.function_instances import Instances

            attrs = Instances(graph.functions).own_attrs(called.name, called.attrs)
            inputs = [*op.inputs, *(convert_to_tensor(g) for g in grads)]
            types = [t.dtype for t in op.inputs]
            return _call(NameAttrList(own, attrs), inputs, types)
        function = library_bodies.called_function(graph, called)
        if library_bodies.has_classic_loop(function):
            return _node(op, called, grads)
        return _symbolic(op, function, grads)

    return gradient


def _make_symbolic(name: str, functions: Mapping[str, FunctionIR]) -> MadeGradient:
    """The gradient function of one in a library, for `SymbolicGradient` nodes.

    It gives zeros for an argument that has no gradient.
    """
    function = functions[name]
    if function.gradient:
        return MadeGradient(function.gradient, functions)
    outer = Graph()
    for known in functions.values():
        outer.add_function(known)
    with outer.as_default():
        graph = FuncGraph(func_graph.unique_gradient_name(name), outer)
        graph.has_plain_gradients = True
        shapes = function.arg_shapes or (UNKNOWN,) * len(function.arg_names)
        with graph.as_default():
            arguments = [
                graph.add_argument(dtype, shape, arg)
                for arg, dtype, shape in zip(
                    function.arg_names, function.arg_types, shapes, strict=True
                )
            ]
            given = [
                graph.add_argument(dtype, UNKNOWN, "grad_ys")
                for dtype in function.output_types
            ]
            graph.outputs = _gradients_of(graph, function, arguments, given)
    made = graph.to_function(keep_stateful=True)
    return MadeGradient(made.name, {**outer.functions, made.name: made})


def _gradients_of(
    graph: FuncGraph,
    function: FunctionIR,
    arguments: list[Tensor],
    given: list[Tensor],
) -> list[Tensor]:
    """The gradients of all arguments, from those of all results."""
    results = library_bodies.add_body(graph, function, arguments)
    pairs = [(y, g) for y, g in zip(results, given, strict=True) if is_trainable(y)]
    found = build_gradients([y for y, _ in pairs], arguments, [g for _, g in pairs])
    return [
        graph.capture(fill_ops.zeros_like(x) if g is None else convert_to_tensor(g))
        for x, g in zip(arguments, found, strict=True)
    ]


symbolic_gradient.set_maker(_make_symbolic)


def _call(called: NameAttrList, inputs: list[Tensor], types: list[Any]) -> list[Tensor]:
    op = functional_ops.call_op(
        "PartitionedCall",
        inputs,
        "SymbolicGradient",
        f=called,
        Tout=types,
    )
    return op.outputs


def _node(op: Operation, called: NameAttrList, grads: Any) -> list[Any]:
    """A `SymbolicGradient`: the runtime makes the gradient.

    It does so of loops of While nodes, which it makes of classic ones.
    """
    given = [
        fill_ops.zeros_like(y) if g is None else convert_to_tensor(g)
        for y, g in zip(op.outputs, grads, strict=True)
    ]
    types = [t.dtype.base_dtype for t in op.inputs]
    made = create_op(
        "SymbolicGradient",
        "SymbolicGradient",
        {"input": [*op.inputs, *given], "Tout": types, "f": called},
    )
    return [
        gradient if is_trainable(x) else None
        for x, gradient in zip(op.inputs, made.outputs, strict=True)
    ]


def _symbolic(op: Operation, function: FunctionIR, grads: Any) -> list[Any]:
    """A call of the gradient, which runs the body anew, with all its effects."""
    scope = gradient_scope()
    given = [(i, convert_to_tensor(g)) for i, g in enumerate(grads) if g is not None]
    graph = FuncGraph(func_graph.unique_gradient_name(function.name))
    graph.has_plain_gradients = True
    arguments = [
        graph.add_argument(t.dtype, t.shape, name, t._handle_data)
        for name, t in zip(function.arg_names, op.inputs, strict=True)
    ]
    grad_arguments = [graph.add_argument(g.dtype, g.shape, "grad_ys") for _, g in given]
    with graph.as_default():
        results = library_bodies.add_body(graph, function, arguments)
        pairs = [
            (results[i], g)
            for (i, _), g in zip(given, grad_arguments, strict=True)
            if is_trainable(results[i])
        ]
        found = build_gradients(
            [y for y, _ in pairs],
            arguments,
            [g for _, g in pairs],
            name=scope,
            is_part=True,
        )
        found = [
            fill_ops.zeros_like(x) if g is None and takes_number_zeros(x) else g
            for x, g in zip(arguments, found, strict=True)
        ]
        wanted = [i for i, g in enumerate(found) if g is not None]
        graph.outputs = [graph.capture(convert_to_tensor(found[i])) for i in wanted]
    gradients: list[Any] = [None] * len(arguments)
    if not wanted:
        return gradients
    get_default_graph().add_function(graph.to_function(keep_stateful=True))
    inputs = [*op.inputs, *(g for _, g in given), *graph.external_captures]
    types = [t.dtype.base_dtype for t in graph.outputs]
    outputs = _call(functional_ops.named(graph.name), inputs, types)
    for i, outside, inside in zip(wanted, outputs, graph.outputs, strict=True):
        outside._shape = inside._shape
        gradients[i] = outside
    return gradients
