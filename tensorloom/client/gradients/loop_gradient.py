"""The gradient of one classic loop: a loop beside it that goes backwards.

forward:   n = 0; while p: body; n += 1; push what the gradient reads on stacks
backward:  while n >= 1: n -= 1; pop what the gradient reads; gradient of the body

The forward loop is there already and grows: by the counter, and by the pushes of those
values that turn out to be needed. What all iterations share is not pushed, but enters
the backward loop once. Control edges keep the pushes, and the pops, of different
iterations in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.control_flow_places import (
    is_constant_enter,
    output_context,
    within,
)
from tensorloom.client.control_flow.while_context import WhileContext
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import colocate_with, control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow import classic

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor

_HANDED_ON = ("Switch", "RefSwitch", "Identity", "RefIdentity")


class LoopGradient:
    """The gradient of a loop, for one call of `tf.gradients`.

    Must be made in the context that `tf.gradients` is called in.

    Args:
      forward: the loop.
      outer: the gradient of the loop around it, if that is part of the computation.
    """

    def __init__(self, forward: WhileContext, outer: LoopGradient | None) -> None:
        self.forward_context = forward
        self.outer = outer
        # By name of a forward tensor: its value in the backward loop.
        self._values: dict[str, Tensor] = {}
        # By Switch of a forward loop variable: the Merge of its gradient.
        self.switch_map: dict[Operation, Any] = {}
        self.forward_exits = list(forward.loop_exits)
        self.pending_exits = len(forward.loop_exits)
        self.unused_exits: list[Tensor] = []
        self.deferred_exits: list[Tensor] = []
        self._forward_sync: Operation | None = None
        self._backward_sync: Operation | None = None
        enclosing = outer.forward_context if outer else forward.outer_context
        with within(enclosing):
            count, self.forward_index = self._count_forward()
        if outer is None:
            with within(enclosing):
                self.grad_context = self._new_context()
                self._index = self._count_backward(count)
            return
        enclosing.AddName(count.name)
        history = outer.push(count)
        with within(outer.grad_context):
            self.grad_context = self._new_context()
            popped = outer.pop(history, count)
            self._index = self._count_backward(popped)

    def _new_context(self) -> WhileContext:
        forward = self.forward_context
        return WhileContext(
            forward.maximum_iterations,
            forward.parallel_iterations,
            forward.back_prop,
            forward.swap_memory,
            forward.name,
            self,
        )

    # --- counters -------------------------------------------------------------------

    def _count_forward(self) -> tuple[Tensor, Tensor]:
        """Adds a counter to the forward loop: (its last value, that of an iteration).

        The pushes of an iteration end before the next value.
        """
        context = self.forward_context
        zero = constant(0, name="f_count")
        if self.outer is not None:
            # The pushes of one run of this loop end before those of the next one.
            zero._op._add_control_input(self.outer.forward_step)
        context.Enter()
        context.AddName(zero.name)
        entered = self._enter(context, zero, "f_count")
        merged = classic.merge([entered, entered])
        last, current = classic.switch(merged, context.pivot)
        step = apply_op("Add", x=current, y=1)
        index = classic.next_iteration(step)
        merged._op._update_input(1, index)
        total: Tensor = classic.leave(last, name="f_count")
        context.loop_exits.append(total)
        context.ExitResult([total])
        context.Exit()
        return total, index

    def _count_backward(self, count: Tensor) -> Tensor:
        """Builds the backward loop around a counter that goes down to zero."""
        context = self.grad_context
        one = constant(1, name="b_count")
        context.Enter()
        context.AddName(count.name)
        entered = self._enter(context, count, "b_count")
        merged = classic.merge([entered, entered])
        context.complete([merged, None, None])
        test = apply_op("GreaterEqual", x=merged, y=one)
        pivot = apply_op("LoopCond", input=test, name="b_count")
        context.complete([merged, pivot, None])
        last, current = classic.switch(merged, pivot)
        step = apply_op("Sub", x=current, y=one)
        context.complete([merged, pivot, step])
        index: Tensor = classic.next_iteration(step)
        merged._op._update_input(1, index)
        zero = classic.leave(last, name="b_count")
        context.loop_exits.append(zero)
        if self.outer is not None:
            # The pops of one run of this loop end before those of the next one.
            self.outer.backward_sync._add_control_input(zero._op)
        context.ExitResult([zero])
        context.Exit()
        return index

    def _enter(self, context: WhileContext, value: Tensor, name: str) -> Tensor:
        entered: Tensor = classic.enter(
            value,
            context.name,
            parallel_iterations=context.parallel_iterations,
            name=name,
        )
        context.loop_enters.append(entered)
        return entered

    @property
    def forward_step(self) -> Operation:
        """What adds one to the forward counter."""
        return self.forward_index._op._inputs[0]._op

    @property
    def forward_sync(self) -> Operation:
        """Ends before the next forward iteration, whatever branches are taken."""
        if self._forward_sync is None:
            with control_dependencies(None):
                self._forward_sync = apply_op("ControlTrigger", name="f_sync")
            self._forward_sync._set_control_flow_context(self.forward_context)
            self.forward_index._op._add_control_input(self._forward_sync)
        return self._forward_sync

    @property
    def backward_sync(self) -> Operation:
        """Ends before the next backward iteration."""
        if self._backward_sync is None:
            with control_dependencies(None):
                self._backward_sync = apply_op("ControlTrigger", name="b_sync")
            self._backward_sync._set_control_flow_context(self.grad_context)
            self._index._op._add_control_input(self._backward_sync)
            enclosing = self.grad_context.outer_context
            if enclosing is not None:
                enclosing.AddInnerOp(self._backward_sync)
        return self._backward_sync

    # --- values of the forward loop -------------------------------------------------

    def push(self, value: Tensor, dead_branch: bool = False) -> Tensor:
        """Keeps the value of each forward iteration; returns the stack.

        Args:
          dead_branch: the value is on the side of a cond's Switch that the gradient
            does not come from.

        Raises:
          TypeError: the value is neither in the loop nor in a branch in it.
        """
        forward, context = self.forward_context, output_context(value._op)
        current = get_default_graph()._get_control_flow_context()
        if context is not forward and not context.IsCondContext():
            raise TypeError(f"{value.name} is not in a branch, but in {context}")
        with control_dependencies(None):
            with within(current), colocate_with(value._op):
                stack: Tensor = apply_op(
                    "StackV2",
                    max_size=constant(-1, dtypes.int32),
                    elem_type=value._dtype.base_dtype,
                    name="f_acc",
                )
            entered = forward.AddValue(stack)
            with within(context.outer_context if dead_branch else context):
                push = apply_op(
                    "StackPushV2",
                    handle=entered,
                    elem=value,
                    swap_memory=forward.swap_memory,
                )._op
            if context is forward:
                self.forward_index._op._add_control_input(push)
            else:
                push._set_control_flow_context(context)
                self.forward_sync._add_control_input(push)
            push._add_control_input(self.forward_step)
        return stack

    def pop(self, stack: Tensor, value: Tensor, dead_branch: bool = False) -> Tensor:
        """The value that the matching forward iteration has pushed."""
        branch = _branch_between(value._op._control_flow_context, stack)
        with control_dependencies(None), within(self.grad_context):
            if branch is not None:
                # Nothing was pushed where the branch was not taken.
                pred = self._known_decision(branch.pred)
                side = 1 - branch.branch if dead_branch else branch.branch
                stack = classic.switch_beside(stack, pred)[side]
            popped: Tensor = apply_op(
                "StackPopV2", handle=stack, elem_type=value._dtype.base_dtype
            )
            popped.set_shape(value.shape)
        if self.grad_context.parallel_iterations > 1:
            self.backward_sync._add_control_input(popped._op)
        return popped

    def value(self, tensor: Tensor) -> Tensor:
        """A tensor of the forward loop, in the backward loop where this is called."""
        known = self._values.get(tensor.name)
        if known is None:
            known = self._values[tensor.name] = self._bring(tensor)
        return known

    def _bring(self, tensor: Tensor) -> Tensor:
        context = self.grad_context
        source, state = tensor, self
        while True:
            shared = _constant_enter(source)
            if shared is not None:
                source = shared._inputs[0]
                if state.outer is None:
                    return context.AddValue(source)
                state = state.outer
            elif source._op._type == "Const":
                return constant(constant_value(source), dtype=source.dtype)
            else:
                break
        context.Exit()
        history = state.push(source)
        context.Enter()
        popped = state.pop(history, source)
        return popped if state is self else context.AddValue(popped)

    def decision(self, pred: Tensor) -> Tensor:
        """The predicate of a cond in the forward loop, as it was in each iteration."""
        known = self._values.get(pred.name)
        if known is None:
            self.grad_context.Exit()
            history = self.push(pred)
            self.grad_context.Enter()
            known = self._values[pred.name] = self.pop(history, pred)
        return known

    def _known_decision(self, pred: Tensor) -> Tensor:
        state: LoopGradient | None = self
        while state is not None:
            known = state._values.get(pred.name)
            if known is not None:
                return known
            state = state.outer
        return pred


def _branch_between(context: Any, stack: Tensor) -> Any:
    """The branch that a value is in, inside of where its stack is; None if in none."""
    enclosing = stack._op._control_flow_context
    while context is not None and context is not enclosing:
        if context.IsCondContext():
            return context
        context = context.outer_context
    return None


def _constant_enter(tensor: Tensor) -> Operation | None:
    """The Enter of a value that all iterations share, if the tensor is one."""
    op = tensor._op
    while op._type in _HANDED_ON:
        op = op._inputs[0]._op
    return op if is_constant_enter(op) else None
