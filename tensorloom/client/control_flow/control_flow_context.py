"""What classic control flow is made of: which ops are in which branch or loop.

A GraphDef has the nodes of a `cond` or a `while_loop` alone. A MetaGraphDef also says
what each construct consists of, and importing one makes the objects here. They are
entered (`context.Enter()`) to add operations inside, whose inputs from outside are then
led in: through a Switch into a branch, through an Enter into a loop's frame. Gradients
of imported loops need them, too. What `tf.cond` and `tf.while_loop` build here has no
contexts: it is functions.

Values are known by their names, as in the protos.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import control_flow_protos
from tensorloom.client.control_flow.control_flow_places import (
    are_of_one_gradient,
    is_within,
    output_context,
)
from tensorloom.client.program import program_log
from tensorloom.framework.functions.classic_op_types import (
    ENTERS,
    SWITCHES,
)
from tensorloom.framework.graph.default_graph import get_default_graph

if TYPE_CHECKING:
    from tensorloom.client.control_flow.while_context import WhileContext
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


class ControlFlowContext:
    """A branch of a conditional, or a loop.

    Args:
      name: unique in the graph; a loop's frame has it, too.
      values: the names of the tensors that the context has seen.
      external_values: for tensors from outside, by name, what they are called inside.
    """

    def __init__(
        self,
        name: str,
        values: Iterable[str] = (),
        external_values: dict[str, Tensor] | None = None,
    ) -> None:
        graph = get_default_graph()
        graph._has_control_flow_contexts = True
        self._graph = graph
        self._name = name
        self._values = set(values)
        self._external_values = dict(external_values or {})
        self._nested_contexts: list[ControlFlowContext] = []
        self._context_stack: list[Any] = []
        self._outer_context: Any = graph._get_control_flow_context()
        if self._outer_context is not None:
            self._outer_context._nested_contexts.append(self)

    @property
    def name(self) -> str:
        """The name, unique in the graph."""
        return self._name

    @property
    def outer_context(self) -> Any:
        """The context that this one is in, or None."""
        return self._outer_context

    @property
    def graph(self) -> Any:
        """The graph that it is part of."""
        return self._graph

    @property
    def grad_state(self) -> Any:
        """Of the loop around: the gradient that it computes; None for other loops."""
        loop = self.GetWhileContext()
        return None if loop is None else loop.grad_state

    def Enter(self) -> None:
        """Operations made from now on are part of this context."""
        graph = get_default_graph()
        self._context_stack.append(graph._get_control_flow_context())
        graph._set_control_flow_context(self)

    def Exit(self) -> None:
        """Goes back to the context that was current at the last `Enter`."""
        get_default_graph()._set_control_flow_context(self._context_stack.pop())

    def ExitResult(self, tensors: Iterable[Tensor]) -> None:
        """Makes tensors known to the context around this one."""
        if self._outer_context is not None:
            for tensor in tensors:
                self._outer_context.AddName(tensor.name)

    def AddName(self, name: str) -> None:
        """Notes that the context has seen a tensor of this name."""
        self._values.add(name)

    def AddInnerOp(self, op: Operation) -> None:
        """Hears of an operation that was added to a context inside."""
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def AddValue(self, val: Tensor) -> Tensor:
        """The tensor for `val` inside this context; leads it in if it is outside."""
        raise NotImplementedError(type(self).__name__)

    def AddOp(self, op: Operation) -> None:
        """Takes in a new operation: its inputs become ones of this context."""
        raise NotImplementedError(type(self).__name__)

    def take_in(self, op: Operation) -> None:
        """`AddOp` to this context itself, not to the forward loop of a gradient."""
        self.AddOp(op)

    def check_use(self, op: Operation, producer: Operation) -> None:
        """Checks that `op` may have an input from `producer`, which is in here.

        Raises:
          ValueError: the producer is in a loop that the operation is not in.
        """
        context, inside = op._control_flow_context, output_context(producer)
        if inside is None or inside is context:
            return
        loop = None if context is None else context.GetWhileContext()
        input_loop = inside.GetWhileContext()
        if loop is None:
            # Enters and Switches are put where they belong after they were made.
            if input_loop is None or op._type in ENTERS | SWITCHES:
                return
            reason = f"'{producer.name}' is in a while loop"
        elif is_within(loop, input_loop) or are_of_one_gradient(loop, input_loop):
            return
        else:
            reason = "they are in different while loops"
        message = (
            f"Cannot use '{producer.name}' as input to '{op.name}' because {reason}."
        )
        program_log.info(
            f"{message} Return it from the body, and use what the loop returns. "
            f"'{producer.name}' was made at {producer.source_line()}, '{op.name}' at "
            f"{op.source_line()}."
        )
        raise ValueError(f"{message} See info log for more details.")

    def GetWhileContext(self) -> WhileContext | None:
        """The innermost loop that this is, or is in."""
        outer = self._outer_context
        return None if outer is None else outer.GetWhileContext()

    def GetControlPivot(self) -> Tensor | None:
        """What operations without inputs wait for."""
        return None

    def IsWhileContext(self) -> bool:
        """Whether this is a loop."""
        return False

    def IsCondContext(self) -> bool:
        """Whether this is a branch of a conditional."""
        return False

    def IsXLAContext(self) -> bool:
        """Whether this is a cluster that XLA compiles: never."""
        return False

    def __str__(self) -> str:
        return self._name

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The context as a message; None if it is not under the scope."""
        return control_flow_protos.to_proto(self, export_scope)

    # --- gradients, made while the context is current ------------------------------

    def enter_gradient(self, op: Operation, grad: Any) -> Any:
        """The gradient of what an Enter brought in."""
        return grad

    def exit_gradient(self, op: Operation, grad: Any) -> Any:
        """The gradient of what leaves a loop by an Exit: none outside of loops."""
        return None

    # --- parts of taking in ---------------------------------------------------------

    def _without_outer_controls(
        self, op: Operation
    ) -> tuple[list[Operation], list[Operation]]:
        """Takes off control inputs from outside the loop; returns (kept, taken off)."""
        loop = self.GetWhileContext()
        if loop is None:
            return op.control_inputs, []
        kept: list[Operation] = []
        outside: list[Operation] = []
        for other in op._control_inputs:
            context = output_context(other)
            is_inside = context is not None and context.GetWhileContext() is loop
            (kept if is_inside else outside).append(other)
        if outside:
            op._remove_all_control_inputs()
            op._add_control_inputs(kept)
        return kept, outside

    def _see(self, names: Iterable[str]) -> None:
        """Notes names here and in all contexts around."""
        names = list(names)
        context: Any = self
        while context is not None:
            context._values.update(names)
            context = context.outer_context
