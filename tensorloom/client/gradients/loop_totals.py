"""Gradients of what all iterations of a classic loop share: sums over the iterations.

before: g (in the backward loop)
after:  total = 0; while backward: total += g

Slices are put one behind the other in place of being added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.control_flow_places import within
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow import classic

if TYPE_CHECKING:
    from tensorloom.client.control_flow.while_context import WhileContext
    from tensorloom.client.gradients.loop_gradient import LoopGradient
    from tensorloom.framework.graph.operation import Operation


def add_up(context: WhileContext, enter: Operation, grad: Any) -> Any:
    """The gradient of what `enter` brought in, in the context around the loop.

    Args:
      context: the backward loop, which is current.
      grad: the gradient that one iteration gives.

    Raises:
      TypeError: the gradient is neither dense nor IndexedSlices.
    """
    if isinstance(grad, Tensor):
        return _add_up_dense(context, enter, grad)
    if isinstance(grad, IndexedSlices):
        return _add_up_slices(context, enter, grad)
    raise TypeError(f"Type {type(grad)} not supported")


def _add_up_dense(context: WhileContext, enter: Operation, grad: Tensor) -> Tensor:
    context.Exit()
    start = _zeros(context, enter._inputs[0], grad)
    context.Enter()
    total = classic.merge([_enter(context, start, True)] * 2, "b_acc")
    current = classic.switch(total, context.pivot)
    added = apply_op("Add", x=current[1], y=grad)
    total._op._update_input(1, classic.next_iteration(added))
    return _leave(context, [current[0]])[0]


def _zeros(context: WhileContext, value: Tensor, grad: Tensor) -> Tensor:
    """What the sum starts with: of the shape of the gradient, or of the value."""
    enclosing = context.outer_context
    if grad.shape.is_fully_defined():
        with within(enclosing):
            return constant(0, grad.dtype, shape=grad.shape.as_list(), name="b_acc")
    state = context.grad_state
    if (
        enclosing is None
        or not enclosing.IsWhileContext()
        or enclosing.grad_state is None
    ):
        with within(enclosing):
            return fill_ops.zeros(_shape(value), grad.dtype)
    # Around is a backward loop, too: the shape comes from its forward loop.
    assert state is not None
    outer: LoopGradient = enclosing.grad_state
    with within(state.forward_context.outer_context):
        shape = _shape(value)
    history = outer.push(shape)
    with within(enclosing):
        return fill_ops.zeros(outer.pop(history, shape), grad.dtype)


def _shape(value: Tensor) -> Tensor:
    """The shape of a tensor, or of the variable behind a handle."""
    if value.dtype.name == "resource":
        shape: Tensor = apply_op("VariableShape", input=value)
    else:
        shape = apply_op("Shape", input=value)
    return shape


def _add_up_slices(
    context: WhileContext, enter: Operation, grad: IndexedSlices
) -> IndexedSlices:
    context.Exit()
    with within(context.outer_context):
        starts = _empty_slices(enter._inputs[0], grad)
    context.Enter()
    entered = [_enter(context, start, False) for start in starts]
    for value, start in zip(entered[:2], starts, strict=False):
        if start.shape.rank is not None:
            value.set_shape([None, *start.shape.as_list()[1:]])
    totals = [classic.merge([value, value], "b_acc") for value in entered]
    pivot: Any = context.pivot
    currents = [classic.switch(total, pivot) for total in totals]
    parts = [grad.indices, grad.values]
    following = [
        concat_ops.concat([current[1], part], 0)
        for current, part in zip(currents, parts, strict=False)
    ]
    if grad.dense_shape is not None:
        largest = apply_op("Maximum", x=grad.dense_shape, y=currents[2][1])
        following.append(largest)
    back = [classic.next_iteration(value) for value in following]
    for total, value in zip(totals, back, strict=True):
        total._op._update_input(1, value)
    left = _leave(context, [current[0] for current in currents])
    return IndexedSlices(left[1], left[0], left[2] if len(left) > 2 else None)


def _empty_slices(source: Tensor, grad: IndexedSlices) -> list[Tensor]:
    """What the slices start with: one row of zeros, for row 0."""
    values, shape = grad.values, grad.dense_shape
    if values.shape.is_fully_defined():
        dims = [1, *values.shape.as_list()[1:]]
        rows = constant(0, values.dtype, shape=dims, name="b_acc")
    else:
        row_shape = concat_ops.concat([[1], _row_shape(source)], 0)
        rows = fill_ops.zeros(row_shape, values.dtype)
    starts = [constant([0], grad.indices.dtype), rows]
    if shape is not None:
        rank = shape.shape.as_list() if shape.shape.is_fully_defined() else None
        starts.append(
            fill_ops.zeros_like(apply_op("Shape", input=_shape(source)), shape.dtype)
            if rank is None
            else constant(0, shape.dtype, shape=rank)
        )
    return starts


def _row_shape(source: Tensor) -> Any:
    data = source._handle_data
    if data is not None and data.shape.is_fully_defined():
        return data.shape.as_list()[1:]
    return _shape(source)[1:]


def _enter(context: WhileContext, start: Tensor, keeps_shape: bool) -> Tensor:
    """What a new variable of the loop starts with, inside."""
    context.AddName(start.name)
    entered: Tensor = classic.enter(
        start,
        context.name,
        parallel_iterations=context.parallel_iterations,
        use_input_shape=keeps_shape,
        name="b_acc",
    )
    context.loop_enters.append(entered)
    return entered


def _leave(context: WhileContext, last: list[Tensor]) -> list[Tensor]:
    exits = [classic.leave(value, name="b_acc") for value in last]
    context.loop_exits.extend(exits)
    context.ExitResult(exits)
    return exits
