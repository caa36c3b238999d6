"""Loops of several training steps in one run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.client.distribution.thread_modes import (
    current_mode,
    current_strategy,
)
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.types import nest
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.control_flow import builders as control_flow_ops


class MultiStepContext:
    """What a step of a loop says of its outputs."""

    run_op: Any

    def __init__(self) -> None:
        self._last_step_outputs: dict[str, Any] = {}
        self._last_step_outputs_reduce_ops: dict[str, Any] = {}
        self._non_tensor_outputs: dict[str, Any] = {}

    @property
    def last_step_outputs(self) -> dict[str, Any]:
        """The outputs of the last step, by name."""
        return self._last_step_outputs

    def _set_last_step_outputs(self, outputs: dict[str, Any]) -> None:
        if not isinstance(outputs, dict):
            raise ValueError("Need a dictionary to set last_step_outputs.")
        self._last_step_outputs = outputs

    def set_last_step_output(
        self, name: str, output: Any, reduce_op: Any = None
    ) -> None:
        """Says an output of a step; that of the last step is kept.

        Args:
          name: of the output.
          output: a tensor; for all replicas, with a part for each.
          reduce_op: how the parts become one; None keeps them, which only is possible
            where all replicas are built for.
        """
        mode = current_mode()
        if mode is None or mode.replica_context is not None:
            assert reduce_op is not None
            context = _replica_context(mode)
            context.merge_call(self._reduced, args=(name, output, reduce_op))
        elif reduce_op is None:
            self._last_step_outputs[name] = output
            self._last_step_outputs_reduce_ops[name] = None
        else:
            self._reduced(current_strategy(), name, output, reduce_op)

    def _reduced(self, strategy: Any, name: str, output: Any, reduce_op: Any) -> None:
        self._last_step_outputs_reduce_ops[name] = reduce_op
        self._last_step_outputs[name] = strategy.reduce(reduce_op, output, axis=None)

    @property
    def non_tensor_outputs(self) -> dict[str, Any]:
        """Outputs that are no tensors, by name."""
        return self._non_tensor_outputs

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Says an output that is no tensor."""
        mode = current_mode()
        if mode is not None and mode.replica_context is None:
            self._non_tensor_outputs[name] = output
            return

        def merge(strategy: Any, value: Any) -> None:
            parts = strategy.experimental_local_results(value)
            self._non_tensor_outputs[name] = parts

        _replica_context(mode).merge_call(merge, args=(output,))


def _replica_context(mode: Any) -> Any:
    assert mode is not None, "a step is built outside of a strategy"
    return mode.replica_context


def run_steps(
    extended: Any,
    fn: Callable[..., Any],
    iterator: Any,
    iterations: int,
    initial_loop_values: Any,
    together: Callable[[Any], Any],
) -> MultiStepContext:
    """A loop that calls `fn(context, elements)` in each of its steps.

    Args:
      extended: the strategy's.
      together: makes one output of the parts that are not reduced.
    """
    context = MultiStepContext()
    values = nest.flatten(initial_loop_values or {})

    def body(index: Any, *outputs: Any) -> list[Any]:
        result = fn(context, iterator.get_next())
        outputs_now = context.last_step_outputs
        for name, output in outputs_now.items():
            outputs_now[name] = extended._local_results(output)
        flat = nest.flatten(outputs_now)
        with control_dependencies([result]):
            return [index + 1, *flat]

    loop = while_loop(
        lambda index, *_: index < iterations,
        body,
        [constant_op.constant(0), *values],
        name="",
        parallel_iterations=1,
        back_prop=False,
        swap_memory=False,
        return_same_structure=True,
    )
    context.run_op = control_flow_ops.group(loop)
    outputs = nest.pack_sequence_as(context.last_step_outputs, loop[1:])
    for name, reduce_op in context._last_step_outputs_reduce_ops.items():
        parts = outputs[name]
        if reduce_op is None:
            outputs[name] = together(parts)
        else:
            assert len(parts) == 1
            (outputs[name],) = parts
    context._set_last_step_outputs(outputs)
    return context
