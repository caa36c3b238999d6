"""Which branch or loop an operation is in, and what it is to it.

Branches and loops are contexts: see `control_flow_context`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.functions.classic_op_types import ENTERS, EXITS, SWITCHES

if TYPE_CHECKING:
    from tensorloom.client.control_flow.control_flow_context import ControlFlowContext
    from tensorloom.client.control_flow.while_context import WhileContext
    from tensorloom.framework.graph.operation import Operation


def is_switch(op: Operation) -> bool:
    """Whether the op is a Switch."""
    return op._type in SWITCHES


def is_exit(op: Operation) -> bool:
    """Whether the op is an Exit."""
    return op._type in EXITS


def is_constant_enter(op: Operation) -> bool:
    """Whether the op brings in what all iterations of a loop share."""
    return op._type in ENTERS and bool(op._attrs["is_constant"])


def output_context(op: Operation) -> Any:
    """The context that the outputs of an op live in: for an Exit, that around it."""
    context = op._control_flow_context
    if context is not None and op._type in EXITS:
        return context.outer_context
    return context


def while_context_of(op: Operation) -> WhileContext | None:
    """The loop that an op is in; None if it is in none."""
    context = op._control_flow_context
    return None if context is None else context.GetWhileContext()


def is_loop_switch(op: Operation) -> bool:
    """Whether the op is the Switch of a loop variable, not one of a cond in a loop."""
    context = op._control_flow_context
    if op._type not in SWITCHES or context is None or not context.IsWhileContext():
        return False
    return not _is_cond_switch(op)


def _is_cond_switch(op: Operation) -> bool:
    """A Switch does not belong to the branch it leads to, but what reads it does."""
    for tensor in op._outputs:
        for consumer in tensor._consumers:
            context = consumer._control_flow_context
            if consumer._type in ENTERS and context is not None:
                context = context.outer_context
            if context is None or not context.IsCondContext():
                return False
    return True


def is_within(context: Any, enclosing: Any) -> bool:
    """Whether `enclosing` (None: outside of everything) is `context` or around it."""
    while context is not enclosing:
        if context is None:
            return False
        context = context.outer_context
    return True


def are_of_one_gradient(loop: WhileContext, input_loop: WhileContext | None) -> bool:
    """Whether one loop is the gradient of (what is around) the other."""
    if input_loop is None:
        return True
    if loop.grad_state is not None:
        forward = loop.grad_state.forward_context
        if is_within(forward, input_loop) or forward is input_loop.outer_context:
            return True
    for _ in range(2):  # the gradient of `loop`, and the gradient of that
        if input_loop.grad_state is None:
            return False
        input_loop = input_loop.grad_state.forward_context
        if input_loop is loop:
            return True
    return False


class within:
    """`with within(context):` operations are made in it; None changes nothing."""

    def __init__(self, context: ControlFlowContext | None) -> None:
        self._context = context

    def __enter__(self) -> None:
        if self._context is not None:
            self._context.Enter()

    def __exit__(self, *exc_info: object) -> None:
        if self._context is not None:
            self._context.Exit()
