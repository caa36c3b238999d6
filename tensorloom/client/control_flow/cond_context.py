"""The context of a branch of a classic conditional: see `control_flow_context`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import control_flow_protos
from tensorloom.client.control_flow.control_flow_context import ControlFlowContext
from tensorloom.client.control_flow.control_flow_places import (
    is_exit,
    is_within,
)
from tensorloom.framework.functions.classic_op_types import (
    NEXT_ITERATIONS,
)
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.ops.control_flow import classic

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


@control_flow_protos.register_context("cond_ctxt")
class CondContext(ControlFlowContext):
    """A branch of a conditional: what runs when `pred` has the value `branch`.

    Args:
      pred: the bool tensor that decides.
      pivot: a tensor that is alive in this branch alone.
      branch: 1 or 0.
    """

    def __init__(
        self,
        pred: Tensor,
        pivot: Tensor,
        branch: int,
        name: str = "cond_text",
        values: Iterable[str] | None = None,
        external_values: dict[str, Tensor] | None = None,
    ) -> None:
        if values is None:
            name = get_default_graph().unique_name(name)
            super().__init__(name, (pred.name, pivot.name), {pred.name: pred})
            pivot._op._set_control_flow_context(self)
        else:
            super().__init__(name, values, external_values)
        self._pred = pred
        self._pivot = pivot
        self._branch = branch

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> CondContext:
        """The branch that a `CondContextDef` of the default graph tells of."""
        return control_flow_protos.cond_from_proto(
            CondContext, context_def, import_scope
        )

    @property
    def pred(self) -> Tensor:
        """The bool tensor that decides."""
        return self._pred

    @property
    def pivot(self) -> Tensor:
        """A tensor that is alive in this branch alone."""
        return self._pivot

    @property
    def branch(self) -> int:
        """The value of `pred` for which this branch runs."""
        return self._branch

    @property
    def back_prop(self) -> bool:
        """Never: this is for loops to say."""
        return False

    def GetControlPivot(self) -> Tensor:
        """What operations without inputs wait for."""
        return self._pivot

    def IsCondContext(self) -> bool:
        """True."""
        return True

    def AddValue(self, val: Tensor) -> Tensor:
        """The tensor for `val` in this branch: behind a Switch if it is outside."""
        name = val.name
        if name in self._values:
            return self._external_values.get(name, val)
        self._values.add(name)
        result = val
        if self._outer_context is not None:
            result = self._outer_context.AddValue(val)
            self._values.add(result.name)
            self._external_values[result.name] = result
        with control_dependencies(None):
            inside: Tensor = classic.switch_beside(result, self._pred)[self._branch]
            if self._outer_context is not None:
                self._outer_context.AddInnerOp(inside._op)
        inside.graph.prevent_fetching(inside._op)
        inside._op._set_control_flow_context(self)
        self._see([inside.name])
        self._external_values[name] = inside
        return inside

    def branch_result(self, value: Tensor) -> Tensor:
        """What the branch ends in for a value that its function returned.

        Must be called inside. What is not computed in the branch is switched, so that
        it is there when the branch is taken.
        """
        name = value.name
        if name in self._values:
            return self._external_values.get(name, value)
        self._values.add(name)
        result = value
        if self._outer_context is not None:
            result = self._outer_context.AddValue(value)
            self._values.add(result.name)
            self._external_values[result.name] = result
        inside: Tensor = classic.switch_beside(result, self._pred)[self._branch]
        self._external_values[name] = inside
        return inside

    def AddOp(self, op: Operation) -> None:
        """Takes in a new operation: its inputs become ones of this branch."""
        graph = op._graph
        if op._inputs:
            for index, tensor in enumerate(op._inputs):
                if op._type == "Merge" and tensor._op._type in NEXT_ITERATIONS:
                    continue  # the back edge of a loop that is being imported here
                inside = self.AddValue(tensor)
                if inside is not tensor:
                    op._update_input(index, inside)
            self._without_outer_controls(op)
            if graph._is_function(op._type) or op._type == "SymbolicGradient":
                op._add_control_input(self._pivot._op)
        else:
            self._without_outer_controls(op)
            if not any(
                is_within(other._control_flow_context, self)
                for other in op._control_inputs
            ):
                op._add_control_input(self._pivot._op)
        self._see([tensor.name for tensor in op._outputs])
        if self._outer_context is not None or not is_exit(op):
            graph.prevent_fetching(op)
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    # --- gradients ------------------------------------------------------------------

    def switch_gradient(self, op: Operation, grads: Any) -> list[Any]:
        """The gradient of a Switch that leads into this branch, by its data."""
        taken, other = grads[self._branch], grads[1 - self._branch]
        if other is not None:
            return [classic.merge(list(grads), name="cond_grad"), None]
        if taken is not None and op._inputs[0].dtype.name == "resource":
            # A handle that the other branch does not know: nothing flows from there.
            return [classic.merge([taken] * 2, name="cond_resource_grad"), None]
        return [None, None]

    def merge_gradient(self, grad: Any) -> tuple[Any, Any]:
        """The gradients of the inputs of a Merge that this branch ends at."""
        pred = self._pred
        context = get_default_graph()._get_control_flow_context()
        state = None if context is None else context.grad_state
        if state is not None:
            # In a loop: the decision of each iteration.
            pred = state.decision(pred)
        return classic.switch_beside(grad, pred, name="cond_grad")
