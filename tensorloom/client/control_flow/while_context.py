"""The context of a classic loop: see `control_flow_context`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import control_flow_protos
from tensorloom.client.control_flow.control_flow_context import ControlFlowContext
from tensorloom.client.control_flow.control_flow_places import (
    is_constant_enter,
    is_exit,
    output_context,
    while_context_of,
)
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import classic

if TYPE_CHECKING:
    from tensorloom.client.gradients.loop_gradient import LoopGradient
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.types.tensor_shape import TensorShape

# What only needs the shape of a value of the forward loop is computed there, and its
# result kept for the gradient: it is smaller.
_OF_SHAPES = ("Shape", "Size", "Rank")


@control_flow_protos.register_context("while_ctxt")
class WhileContext(ControlFlowContext):
    """A loop; the frame of its nodes has its name.

    Args:
      grad_state: the gradient that this loop computes, for one that a gradient made.
      values: what the loop has seen; None for one that is being built.
    """

    def __init__(
        self,
        maximum_iterations: Any = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: str = "while_context",
        grad_state: LoopGradient | None = None,
        values: Iterable[str] | None = None,
        external_values: dict[str, Tensor] | None = None,
    ) -> None:
        if values is None:
            name = get_default_graph().unique_name(name)
        super().__init__(name, values or (), external_values)
        self._maximum_iterations = maximum_iterations
        self._parallel_iterations = parallel_iterations
        self._back_prop = back_prop
        self._swap_memory = swap_memory
        self._grad_state = grad_state
        # What operations without inputs wait for, in the test and in the body.
        self._pivot_for_pred: Tensor | None = None
        self._pivot_for_body: Tensor | None = None
        self._pivot: Tensor | None = None  # the output of the LoopCond
        self._loop_exits: list[Tensor] = []
        self._loop_enters: list[Tensor] = []

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> WhileContext:
        """The loop that a `WhileContextDef` of the default graph tells of."""
        return control_flow_protos.while_from_proto(
            WhileContext, context_def, import_scope
        )

    def complete(
        self,
        pivots: Sequence[Tensor | None],
        exits: Sequence[Tensor] = (),
        enters: Sequence[Tensor] = (),
    ) -> None:
        """Says what the loop is made of.

        Args:
          pivots: for the test, the LoopCond's output, and for the body.
        """
        self._pivot_for_pred, self._pivot, self._pivot_for_body = pivots
        self._loop_exits += exits
        self._loop_enters += enters

    @property
    def maximum_iterations(self) -> Any:
        """The most iterations that the loop makes; None for any number."""
        return self._maximum_iterations

    @property
    def parallel_iterations(self) -> int:
        """How many iterations may run side by side."""
        return self._parallel_iterations

    @property
    def back_prop(self) -> bool:
        """Whether gradients are taken through the loop."""
        return self._back_prop

    @property
    def swap_memory(self) -> bool:
        """Whether what the gradient needs may go to the host's memory."""
        return self._swap_memory

    @property
    def pivot(self) -> Tensor | None:
        """The output of the LoopCond: whether there is another iteration."""
        return self._pivot

    @property
    def loop_enters(self) -> list[Tensor]:
        """The Enters of the loop variables."""
        return self._loop_enters

    @property
    def loop_exits(self) -> list[Tensor]:
        """The Exits of the loop variables."""
        return self._loop_exits

    @property
    def grad_state(self) -> LoopGradient | None:
        """The gradient that this loop computes; None for other loops."""
        return self._grad_state

    def GetWhileContext(self) -> WhileContext:
        """The loop itself."""
        return self

    def IsWhileContext(self) -> bool:
        """True."""
        return True

    def GetControlPivot(self) -> Tensor | None:
        """What operations without inputs wait for."""
        if self._pivot_for_body is not None:
            return self._pivot_for_body
        return self._pivot_for_pred

    # --- what comes in --------------------------------------------------------------

    def AddValue(self, val: Tensor) -> Tensor:
        """The tensor for `val` in this loop: behind an Enter if it is outside."""
        name = val.name
        # What belongs to the loop without being known yet is being imported with it.
        if name in self._values or val._op._control_flow_context is self:
            return self._external_values.get(name, val)
        self._values.add(name)
        state = _current_gradient()
        if state is not None and _loop_of_value(val._op) is state.forward_context:
            inside = state.value(val)
            self._external_values[name] = inside
            return inside
        result = val
        if self._outer_context is not None:
            result = self._outer_context.AddValue(val)
        with control_dependencies(None):
            entered: Tensor = classic.enter(
                result,
                self._name,
                is_constant=True,
                parallel_iterations=self._parallel_iterations,
            )
            entered.graph.prevent_feeding(entered)
            if self._outer_context is not None:
                self._outer_context.AddInnerOp(entered._op)
        self._adopt_enter(entered._op)
        self._values.add(entered.name)
        self._external_values[name] = entered
        return entered

    def enter_all(
        self, tensors: Iterable[Tensor], shapes: Iterable[TensorShape]
    ) -> list[Tensor]:
        """What the variables of a new loop start with, inside.

        Args:
          shapes: what each variable's shape is in all iterations.
        """
        outer = self._outer_context
        sources = [t if outer is None else outer.AddValue(t) for t in tensors]
        with control_dependencies(None):
            entered: list[Tensor] = [
                classic.enter(
                    t,
                    self._name,
                    parallel_iterations=self._parallel_iterations,
                    use_input_shape=False,
                )
                for t in sources
            ]
        for tensor, shape in zip(entered, shapes, strict=True):
            tensor.set_shape(shape)
        for tensor in entered:
            tensor.graph.prevent_feeding(tensor)
            if outer is not None:
                outer.AddInnerOp(tensor._op)
                pivot = outer.GetControlPivot()
                if pivot is not None and is_constant_enter(tensor._op._inputs[0]._op):
                    tensor._op._add_control_input(pivot._op)
            self._adopt_enter(tensor._op)
            self._values.add(tensor.name)
        return entered

    def _adopt_enter(self, op: Operation) -> None:
        """An Enter is of this loop, and waits for what waits are asked for outside."""
        graph = get_default_graph()
        controls = [
            other
            for other in graph._control_inputs_for(op._inputs)
            if self._is_right_outside(other)
        ]
        op._set_control_flow_context(self)
        op._add_control_inputs(controls)
        for controller in graph._scopes.controllers:
            controller.seen.add(op)

    def _is_right_outside(self, op: Operation) -> bool:
        """Whether an Enter can wait for it: around this loop, in the same iteration."""
        wanted = output_context(op)
        context = self._outer_context
        loop = None if context is None else context.GetWhileContext()
        while context is not wanted:
            if context is None or context is loop:
                return False
            context = context.outer_context
        return True

    def AddOp(self, op: Operation) -> None:
        """Takes in a new operation: its inputs become ones of this loop."""
        if op._type in _OF_SHAPES:
            state = _current_gradient()
            source = op._inputs[0]._op
            if state is not None and while_context_of(source) is state.forward_context:
                context = source._control_flow_context
                op._set_control_flow_context(context)
                context.take_in(op)
                return
        self.take_in(op)

    def take_in(self, op: Operation) -> None:
        """`AddOp` to this loop, and not to the loop whose gradient this one is."""
        graph = op._graph
        if op._inputs:
            for index, tensor in enumerate(op._inputs):
                inside = self.AddValue(tensor)
                if inside is not tensor:
                    op._update_input(index, inside)
            _, outside = self._without_outer_controls(op)
            self._bind(op)
        else:
            kept, outside = self._without_outer_controls(op)
            if not kept:
                self._wait_for_pivot(op)
        self._values.update(tensor.name for tensor in op._outputs)
        if outside:
            self._wait_through_enters(op, outside)
        if self._outer_context is not None or not is_exit(op):
            graph.prevent_fetching(op)
            for tensor in op._outputs:
                graph.prevent_feeding(tensor)
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def _wait_for_pivot(self, op: Operation) -> None:
        pivot = self.GetControlPivot()
        if pivot is not None:
            op._add_control_input(pivot._op)

    def _bind(self, op: Operation) -> None:
        """What depends on shared values alone runs in iterations that there are."""
        if op._control_inputs:
            return
        if (
            op._graph._is_function(op._type)
            or op._type == "SymbolicGradient"
            or all(is_constant_enter(tensor._op) for tensor in op._inputs)
        ):
            self._wait_for_pivot(op)

    def _wait_through_enters(self, op: Operation, outside: list[Operation]) -> None:
        """Control inputs cannot cross into a frame: data of the same ops does."""
        with control_dependencies(None):
            self.Enter()
            waits = [
                identity_ops.identity(other._outputs[0])._op
                for other in outside
                if other._outputs
            ]
            self.Exit()
        op._add_control_inputs(waits)

    # --- gradients ------------------------------------------------------------------

    def switch_gradient(self, op: Operation, grads: Any) -> list[Any]:
        """The gradient of a loop variable's Switch, which is visited twice.

        First from the Exit, which starts the gradient's loop variable; then from the
        body, which gives its value in the next iteration.
        """
        state = _gradient_loop().grad_state
        assert state is not None
        started = state.switch_map.get(op)
        if started is not None:
            if grads[1] is not None:
                close_loop(started, grads[1])
        elif grads[0] is not None:
            started = classic.merge([grads[0], grads[0]], name="b_switch")
            state.switch_map[op] = started
            return [started, None]
        return [None, None]

    def merge_gradient(self, grad: Any) -> tuple[Any, Any]:
        """The gradients of the inputs of a loop variable's Merge."""
        pivot = _gradient_loop().pivot
        assert pivot is not None
        return classic.switch_beside(grad, pivot)

    def enter_gradient(self, op: Operation, grad: Any) -> Any:
        """The gradient of what an Enter brought in; this is the gradient's loop."""
        if not self._back_prop or self._grad_state is None:
            return grad
        if op._attrs["is_constant"]:
            from tensorloom.client.gradients import loop_totals

            return loop_totals.add_up(self, op, grad)
        result = classic.leave(grad)
        tensors = _tensors(result)
        self._loop_exits += tensors
        self.ExitResult(tensors)
        return result

    def exit_gradient(self, op: Operation, grad: Any) -> Any:
        """The gradient of what an Exit gives; this is the gradient's loop.

        Raises:
          TypeError: the forward loop is a gradient's loop itself.
        """
        if not self._back_prop:
            return None
        if op._control_flow_context.grad_state is not None:
            raise TypeError("Second-order gradient for while loops not supported.")
        for tensor in _tensors(grad):
            self.AddName(tensor.name)
        self.Enter()
        entered = classic.enter(
            grad,
            self._name,
            parallel_iterations=self._parallel_iterations,
            name="b_exit",
        )
        self._loop_enters += _tensors(entered)
        self.Exit()
        return entered


def _tensors(value: Any) -> list[Tensor]:
    return [value] if isinstance(value, Tensor) else list(value.composite_parts())


def close_loop(merge: Any, value: Any) -> None:
    """Makes `value` what comes back to a Merge from the iteration before."""
    if isinstance(merge, Tensor):
        following = classic.next_iteration(convert_to_tensor(value))
        merge._op._update_input(1, following)
        return
    following = classic.next_iteration(classic.as_slices(value))
    for part, next_part in zip(
        merge.composite_parts(), following.composite_parts(), strict=True
    ):
        part._op._update_input(1, next_part)


def _gradient_loop() -> WhileContext:
    context = get_default_graph()._get_control_flow_context()
    loop: WhileContext = context.GetWhileContext()
    return loop


def _current_gradient() -> LoopGradient | None:
    """The gradient that operations are being made for, in a loop of it."""
    context = get_default_graph()._get_control_flow_context()
    return None if context is None else context.grad_state


def _loop_of_value(op: Operation) -> WhileContext | None:
    context = output_context(op)
    return None if context is None else context.GetWhileContext()
