"""The reverse walk of `tf.gradients` through classic loops and conditionals.

A loop is gone through as a whole, from its Exits to its Enters: its ops are visited in
the context of the loop that computes its gradient (`loop_gradient`). The Exits wait for
each other, since the loop runs backwards once for all of them; those that the ys do not
depend on take part with zeros. The Switch of a loop variable is visited twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.control_flow_places import (
    is_exit,
    is_loop_switch,
    is_switch,
    while_context_of,
    within,
)
from tensorloom.client.gradients.gradient_walk import GradientWalk
from tensorloom.client.gradients.gradient_zeros import is_trainable, zeros_of_variable
from tensorloom.client.gradients.loop_gradient import LoopGradient
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow import classic

if TYPE_CHECKING:
    from tensorloom.client.control_flow.while_context import WhileContext
    from tensorloom.framework.graph.operation import Operation


class LoopWalk(GradientWalk):
    """`GradientWalk` for a graph with control flow contexts."""

    _loops: dict[WhileContext, LoopGradient]
    _queue: deque[Operation]

    # --- the subgraph between xs and ys ---------------------------------------------

    def _ops_between(self, reached: set[Operation]) -> dict[Operation, None]:
        between = super()._ops_between(reached)
        self._add_loops(between)
        return between

    def _add_loops(self, between: dict[Operation, None]) -> None:
        """Makes the gradient of each loop, outer ones first; adds the loop's Exits."""
        self._loops = {}
        waiting = deque(between)
        while waiting:
            op = waiting.popleft()
            if not is_exit(op):
                continue
            loop = while_context_of(op)
            if loop is None or loop in self._loops:
                continue  # without a context: the gradient function says so
            with self._placed_like(op):
                gradient = LoopGradient(loop, self._around(loop))
            self._loops[loop] = gradient
            for tensor in gradient.forward_exits:
                if tensor._op not in between:
                    between[tensor._op] = None
                    waiting.append(tensor._op)

    def _around(self, loop: WhileContext) -> LoopGradient | None:
        """The gradient of the loop around a loop, if it is part of the walk."""
        context = loop.outer_context
        outer = None if context is None else context.GetWhileContext()
        return None if outer is None else self._loops.get(outer)

    def _loop_of(self, op: Operation, outside: bool = False) -> LoopGradient | None:
        """The gradient of the loop that an op is in; of an Exit, `outside` of it."""
        context = op._control_flow_context
        if context is not None and outside and is_exit(op):
            context = context.outer_context
        return None if context is None else self._loops.get(context.GetWhileContext())

    # --- the walk -------------------------------------------------------------------

    def run(self) -> None:
        """Calls the gradient functions of the ops between, last ones first."""
        queue = self._queue = deque(op for op in self._roots if not self._pending[op])
        self._start_unused_exits(set(queue))
        self._stop_ops = self._find_stop_ops()
        while queue:
            op = queue.popleft()
            inputs = self._inputs(op)
            with self._placed_like(op):
                with within(_context_of(self._loop_of(op, outside=True))):
                    received = self._aggregate(op)
                with within(_context_of(self._loop_of(op))):
                    self._check_start(op)
                    gradients = self._differentiate(op, received)
                    for tensor, gradient in zip(inputs, gradients, strict=False):
                        if gradient is not None:
                            self._check_shape(op, tensor, gradient)
                            self._add_gradient(tensor, gradient)
            for tensor in inputs:
                self._count_down(tensor)

    def finish(self) -> None:
        """Ends the gradients of loop variables that the body does not read."""
        for loop in self._loops.values():
            _close_untouched(loop)

    def _start_unused_exits(self, started: set[Operation]) -> None:
        """Exits that no y depends on take part, but not before the others."""
        ready: list[Tensor] = []
        for loop in self._loops.values():
            for tensor in loop.forward_exits:
                if self._pending.get(tensor._op, 0):
                    continue
                loop.pending_exits -= 1
                if tensor._op not in started:
                    loop.unused_exits.append(tensor)
                if not loop.pending_exits:
                    ready += loop.unused_exits
            for tensor in loop.forward_context.loop_enters:
                if not self._pending.get(tensor._op, 0):
                    # Taken along for gradients of this gradient.
                    self._pending[tensor._op] = 1
        for tensor in ready:
            if is_trainable(tensor):
                self._add_gradient(tensor, self._zeros_of_exit(tensor))
                self._queue.append(tensor._op)

    def _count_down(self, tensor: Tensor) -> None:
        op = tensor._op
        left = self._pending.get(op)
        if left is None:
            return
        left = self._pending[op] = left - 1
        if left and not (left > 0 and is_loop_switch(op)):
            return
        loop = self._loop_of(op) if is_exit(op) else None
        if loop is None:
            self._queue.append(op)
            return
        loop.deferred_exits.append(tensor)
        loop.pending_exits -= 1
        if not loop.pending_exits:
            self._go_through(loop)

    def _go_through(self, loop: LoopGradient) -> None:
        """All Exits of a loop have been reached: visits them."""
        has_gradient = False
        for tensor in loop.deferred_exits:
            if self._has_gradient(tensor._op):
                has_gradient = True
                self._queue.append(tensor._op)
            else:
                loop.unused_exits.append(tensor)
        for tensor in loop.unused_exits:
            if has_gradient and is_trainable(tensor):
                self._add_gradient(tensor, self._zeros_of_exit(tensor))
            self._queue.append(tensor._op)

    def _add_gradient(self, tensor: Tensor, gradient: Any) -> None:
        received = self._gradients.get(tensor._op)
        index = tensor._value_index
        if received is None or isinstance(received[index], list):
            super()._add_gradient(tensor, gradient)
        else:
            received[index] = gradient  # of a Switch, from the loop's body

    def _has_gradient(self, op: Operation) -> bool:
        return any(
            value is not None
            for received in self._gradients.get(op, ())
            for value in (received if isinstance(received, list) else [received])
        )

    def _check_start(self, op: Operation) -> None:
        """Raises ValueError where a gradient inside a loop leads to before the loop."""
        context = op._control_flow_context
        if (
            not is_switch(op)
            or context is None
            or not context.IsWhileContext()
            or context is not get_default_graph()._get_control_flow_context()
        ):
            return
        names = [x.name for x in self._from_ops if x in _ancestors(op)]
        raise ValueError(
            f"Cannot compute gradient inside while loop with respect to op "
            f"'{names[0] if names else op.name}'. We do not support taking the "
            "gradient wrt or through the initial value of a loop variable. Gradients "
            "can be computed through loop invariants or wrt the input parameters to "
            "the loop body."
        )

    # --- zeros ----------------------------------------------------------------------

    def _zeros_like(self, tensor: Tensor) -> Any:
        op = tensor._op
        if is_loop_switch(op):
            return None
        loop = self._loop_of(op)
        context = op._control_flow_context
        if loop is None:
            if is_switch(op) and context is not None:
                return _zeros_of_branch(tensor, context)
            return super()._zeros_like(tensor)
        if tensor._dtype == dtypes.resource:
            zeros: Any = zeros_of_variable(tensor)
        elif tensor.shape.is_fully_defined():
            zeros = constant(0, tensor.dtype, shape=tensor.shape.as_list())
        else:
            return _zeros_in_loop(loop, tensor)
        if not is_switch(op):
            return zeros
        pred = loop.decision(context.pred)
        return classic.switch_beside(zeros, pred)[1 - context.branch]

    def _zeros_of_exit(self, tensor: Tensor) -> Any:
        """The gradient of a loop's result that the ys do not depend on."""
        forward: Any = while_context_of(tensor._op)
        outer = self._around(forward)
        known = tensor.shape.is_fully_defined()
        if outer is None:
            if known:
                return fill_ops.zeros(tensor.shape.as_list(), tensor.dtype)
            return super()._zeros_like(tensor)
        if known:
            with within(outer.grad_context):
                return fill_ops.zeros(tensor.shape.as_list(), tensor.dtype)
        with within(forward.outer_context):
            shape = apply_op("Shape", input=tensor)
        history = outer.push(shape)
        with within(outer.grad_context):
            return fill_ops.zeros(outer.pop(history, shape), tensor.dtype)


def _context_of(loop: LoopGradient | None) -> WhileContext | None:
    return None if loop is None else loop.grad_context


def _ancestors(op: Operation) -> set[Operation]:
    found: set[Operation] = set()
    stack = [op]
    while stack:
        current = stack.pop()
        if current not in found:
            found.add(current)
            stack += [t._op for t in current._inputs]
    return found


def _zeros_of_branch(tensor: Tensor, context: Any) -> Tensor:
    """Zeros for a Switch's other output, where that is what lives."""
    op = tensor._op
    other = classic.switch(op._inputs[0], context.pred)[1 - context.branch]
    pivot = identity_ops.identity(other)
    if tensor._dtype == dtypes.resource:
        with control_dependencies([pivot]):
            return zeros_of_variable(other)
    shape = apply_op("Shape", input=other)
    with control_dependencies([pivot]):
        return fill_ops.zeros(shape, tensor.dtype)


def _zeros_in_loop(loop: LoopGradient, tensor: Tensor) -> Tensor:
    """Zeros of the shape that the tensor had in the forward iteration."""
    op = tensor._op
    context = op._control_flow_context
    dead_branch = is_switch(op)
    if dead_branch:
        with within(context.outer_context):
            other = classic.switch_beside(op._inputs[0], context.pred)
            value = other[1 - context.branch]
            shape = apply_op("Shape", input=value)
        value._op._set_control_flow_context(context)
        shape._op._set_control_flow_context(context)
    else:
        with within(context):
            shape = apply_op("Shape", input=tensor)
    loop.grad_context.Exit()
    history = loop.push(shape, dead_branch)
    loop.grad_context.Enter()
    popped = loop.pop(history, shape, dead_branch)
    return fill_ops.zeros(popped, tensor.dtype)


def _close_untouched(loop: LoopGradient) -> None:
    """Ends the gradients of variables that each iteration sets anew: they are zero.

    before: Merge(start, start)
    after:  Merge(start, NextIteration(zeros))
    """
    for merged in loop.switch_map.values():
        parts: Sequence[Any] = (
            [merged] if isinstance(merged, Tensor) else merged.composite_parts()
        )
        for part in parts:
            start = part._op._inputs[0]
            if part._op._inputs[1] is not start:
                continue
            if start.shape.is_fully_defined():
                with within(loop.grad_context):
                    zeros = constant(0, start.dtype, shape=start.shape.as_list())
                    following = classic.next_iteration(zeros)
            else:
                with within(loop.grad_context.outer_context):
                    shape = apply_op("Shape", input=start._op._inputs[0])
                    zeros = fill_ops.zeros(shape, start.dtype)
                with within(loop.grad_context):
                    following = classic.next_iteration(zeros)
            part._op._update_input(1, following)
