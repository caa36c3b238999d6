"""The context of a computation for XLA: marks what is made in it."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.client.control_flow.control_flow_context import ControlFlowContext
from tensorloom.client.program import program_log
from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.ops.array.identity import identity

_ATTR: Final = "_xla_compile_id"
# What TensorFlow's XLA cannot give back from the middle of a computation.
_UNSUPPORTED: Final = frozenset(
    {
        *("AudioSummary", "AudioSummaryV2", "HistogramSummary", "ImageSummary"),
        *("MergeSummary", "Print", "ScalarSummary", "TensorSummary", "TensorSummaryV2"),
    }
)
_NAMED_AT_MOST: Final = 5


class XLACompileContext(ControlFlowContext):
    """Marks the operations made inside as one computation.

    Args:
      name: unique in the graph: the value of the mark.
      pivot: an operation that those without inputs wait for.
    """

    def __init__(self, name: str, pivot: Any) -> None:
        super().__init__(name)
        self._pivot = pivot
        self._unsupported: list[Any] = []

    def IsXLAContext(self) -> bool:
        """True."""
        return True

    @property
    def grad_state(self) -> None:
        """None: a gradient of it is made as one outside of loops."""
        return None

    @property
    def back_prop(self) -> bool:
        """Whether the loop around has gradients."""
        loop = self.GetWhileContext()
        return loop is not None and loop.back_prop

    def AddValue(self, val: Any) -> Any:
        """The tensor for `val` in here."""
        if val.name in self._values:
            return self._external_values.get(val.name, val)
        result = val
        self._values.add(val.name)
        if self._outer_context is not None:
            result = self._outer_context.AddValue(val)
            self._values.add(result.name)
        self._external_values[val.name] = result
        return result

    def AddInnerOp(self, op: Any) -> None:
        """Takes in an operation of a context inside."""
        self.AddOp(op)
        super().AddInnerOp(op)

    def AddOp(self, op: Any) -> None:
        """Takes in a new operation.

        Raises:
          NotImplementedError: it uses a reference variable.
          ValueError: it is in another such computation.
        """
        if op.type == "Placeholder":
            program_log.error(
                f"Operation of type {op.type} ({op.name}) is not supported in XLA. "
                "Execution will fail if this op is used in the graph. "
            )
        if op.type in _UNSUPPORTED:
            self._unsupported.append(op)
        if any(tensor.dtype._is_ref_dtype for tensor in op.inputs):
            raise NotImplementedError(
                "Non-resource Variables are not supported inside XLA computations "
                f"(operator name: {op.name})"
            )
        if _ATTR in op.node_def.attr:
            raise ValueError(
                "XLA compiled computations cannot be nested, (operator name: "
                f"{op.name})"
            )
        op._set_attr(_ATTR, self._name.encode())
        op.graph.prevent_fetching(op)
        for tensor in op.outputs:
            op.graph.prevent_feeding(tensor)
        outside = self._take_off_controls(op)
        for index, tensor in enumerate(op.inputs):
            inside = self.AddValue(tensor)
            if inside is not tensor:
                op._update_input(index, inside)
        if not op.inputs and not op.control_inputs:
            op._add_control_input(self._pivot)
        if outside:
            op._add_control_inputs(self._brought_in(outside))
        self._see(tensor.name for tensor in op.outputs)
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def _take_off_controls(self, op: Any) -> list[Any]:
        """Takes off control inputs from outside, and returns them."""
        kept: list[Any] = []
        outside: list[Any] = []
        for other in op.control_inputs:
            context = other._get_control_flow_context()
            while context is not None and context is not self:
                context = context.outer_context
            (kept if context is self else outside).append(other)
        if outside:
            op._remove_all_control_inputs()
            op._add_control_inputs(kept)
        return outside

    def _brought_in(self, operations: list[Any]) -> list[Any]:
        """Operations in here that wait for those outside, by way of their outputs."""
        with control_dependencies(None):
            self.Enter()
            try:
                return [identity(o.outputs[0]).op for o in operations if o.outputs]
            finally:
                self.Exit()

    def report_unsupported_operations(self) -> None:
        """Warns of what real XLA would not compile."""
        if self._unsupported:
            named = self._unsupported[:_NAMED_AT_MOST]
            lines = "\n".join(f"  {op.type} ({op.name})" for op in named)
            count = len(self._unsupported)
            program_log.warning(f"{count} unsupported operations found: \n{lines}")
