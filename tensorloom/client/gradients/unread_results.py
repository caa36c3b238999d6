"""Results of a branch or loop node that have no gradient while others have one.

TensorFlow's functional control flow gives them zeros, which it sends through the
bodies. So the gradient of an input that such a result is computed of

- waits for the result: what it is made of runs, with what it writes, also in a step
  that needs no more than the gradient;
- is zeros, not None, if no other result reaches the input.

Here no zeros go through the bodies, where they would become NaN at a logarithm of
zero: the gradients of these inputs are made to wait, or to be zeros, behind the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.gradients import body_graphs, graph_mutation
from tensorloom.client.gradients.gradient_zeros import (
    is_trainable,
    takes_number_zeros,
    zeros_like,
)
from tensorloom.framework.functions.functional_op_types import BRANCHES, LOOPS
from tensorloom.framework.graph.classic_node_counts import is_classic
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.registry.gradient_registry import get_gradient_function
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.array import identity as identity_ops

if TYPE_CHECKING:
    from tensorloom.client.functions.func_graph import FuncGraph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


def add_zeros(
    op: Operation, received: Sequence[Any], gradients: Sequence[Any]
) -> Sequence[Any]:
    """The gradients of the op's inputs, with what its unread results add to them.

    Args:
      received: the gradients of its results; None of one that has none.
    """
    if is_classic(op) or op.graph is not get_default_graph():
        return gradients
    own = graph_mutation.own_output_count(op)
    unread = [
        output
        for output, gradient in zip(op._outputs[:own], received, strict=False)
        if gradient is None and takes_number_zeros(output)
    ]
    waits: dict[int, list[Tensor]] = {}
    for output in unread:
        for index in _reached_inputs(op, output._value_index):
            if index < len(gradients) and op.__dict__["_wanted_inputs"][index]:
                waits.setdefault(index, []).append(output)
    if not waits:
        return gradients
    result = list(gradients)
    for index, outputs in waits.items():
        result[index] = _waiting(op._inputs[index], gradients[index], outputs)
    return result


def _waiting(tensor: Tensor, gradient: Any, outputs: list[Tensor]) -> Any:
    """A gradient of a tensor that comes after the outputs."""
    # A control edge from the node itself would stand for all of its results.
    alone = [identity_ops.identity(output) for output in outputs]
    with get_default_graph().control_dependencies(alone):
        if gradient is None:
            return zeros_like(tensor) if takes_number_zeros(tensor) else None
        if isinstance(gradient, IndexedSlices):
            values = identity_ops.identity(gradient.values)
            return IndexedSlices(values, gradient.indices, gradient.dense_shape)
        return identity_ops.identity(gradient)


def _reached_inputs(op: Operation, index: int) -> set[int]:
    """The inputs of a branch or loop node that a gradient of a result may reach."""
    if op._type in BRANCHES:
        reached: set[int] = set()
        for branch in body_graphs.branch_graphs(op):
            reached |= _reached_arguments(branch, [index])
        return {1 + i for i in reached}
    body = body_graphs.loop_graphs(op)[1]
    reached, new = set(), {index}
    while new:
        reached |= new
        new = _reached_arguments(body, new) - reached
    return reached


def _reached_arguments(body: FuncGraph, results: Iterable[int]) -> set[int]:
    """The arguments of a body that gradients of some of its results may reach."""
    arguments = {tensor: i for i, tensor in enumerate(body.inputs)}
    reached: set[int] = set()
    seen: set[Tensor] = set()
    stack = [body.outputs[i] for i in results]
    while stack:
        tensor = stack.pop()
        if tensor in seen or not is_trainable(tensor):
            continue
        seen.add(tensor)
        if tensor in arguments:
            reached.add(arguments[tensor])
        else:
            stack.extend(_inputs_reached_from(tensor))
    return reached


def _inputs_reached_from(tensor: Tensor) -> Iterable[Tensor]:
    op = tensor._op
    if op._type in LOOPS:
        return op._inputs  # the gradient of a loop in a body is one loop for all
    if op._type in BRANCHES:
        return [op._inputs[i] for i in _reached_inputs(op, tensor._value_index)]
    try:
        return op._inputs if get_gradient_function(op) is not None else ()
    except LookupError:
        return op._inputs
