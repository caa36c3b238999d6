"""Stacks of bidirectional recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.nn.dynamic_rnn import bidirectional_dynamic_rnn
from tensorloom.nn.static_rnn import static_bidirectional_rnn
from tensorloom.ops.array import array_ops


def _check(cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> None:
    for name, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not cells:
            raise ValueError(
                f"Must specify at least one {name} cell for BidirectionalRNN."
            )
    for name, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not isinstance(cells, list):
            raise ValueError(
                f"cells_{name} must be a list of RNNCells (one per layer)."
            )
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for name, states in (("fw", states_fw), ("bw", states_bw)):
        if states is None:
            continue
        if not isinstance(states, list) or len(states) != len(cells_fw):
            raise ValueError(
                f"initial_states_{name} must be a list of state tensors (one per "
                "layer)."
            )


def _stack(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    states_fw: Any,
    states_bw: Any,
    scope: Any,
    layer: Callable[..., tuple[Any, Any, Any]],
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """(outputs of the last layer, forward states, backward states)."""
    _check(cells_fw, cells_bw, states_fw, states_bw)
    none = [None] * len(cells_fw)
    rows = zip(cells_fw, cells_bw, states_fw or none, states_bw or none, strict=True)
    finals = []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, row in enumerate(rows):
            with variable_scope(f"cell_{i}") as cell_scope:
                inputs, *final = layer(*row, inputs, cell_scope)
            finals.append(final)
    forward, backward = zip(*finals, strict=True)
    return inputs, forward, backward


@export("contrib.rnn.stack_bidirectional_rnn")
def stack_bidirectional_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> Any:
    """Layers of bidirectional recurrences, unrolled; each sees both directions.

    Args:
      cells_fw, cells_bw: lists of RNNCells, one a layer.
      inputs: list of [batch, depth], one a step.
      initial_states_fw, initial_states_bw: lists of states, one a layer.
      dtype: of the states, where none is given.
      sequence_length: steps of each sequence, [batch].
      scope: of the variables, "stack_bidirectional_rnn" by default.

    Returns:
      (list of outputs, forward states, backward states), the states one a layer.

    Raises:
      ValueError: no cells, not lists, or lists of different lengths.
    """

    def layer(fw: Any, bw: Any, state_fw: Any, state_bw: Any, x: Any, at: Any) -> Any:
        return static_bidirectional_rnn(
            fw,
            bw,
            x,
            initial_state_fw=state_fw,
            initial_state_bw=state_bw,
            sequence_length=sequence_length,
            dtype=dtype,
            scope=at,
        )

    states = initial_states_fw, initial_states_bw
    return _stack(cells_fw, cells_bw, inputs, *states, scope, layer)


@export("contrib.rnn.stack_bidirectional_dynamic_rnn")
def stack_bidirectional_dynamic_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> Any:
    """Layers of bidirectional recurrences in loops; each sees both directions.

    Args:
      cells_fw, cells_bw: lists of RNNCells, one a layer.
      inputs: [batch, time, depth], or [time, batch, depth] with `time_major`.
      initial_states_fw, initial_states_bw: lists of states, one a layer.
      dtype: of the states, where none is given.
      sequence_length: steps of each sequence, [batch].
      parallel_iterations, time_major, swap_memory: see `tf.nn.dynamic_rnn`.
      scope: of the variables, "stack_bidirectional_rnn" by default.

    Returns:
      (outputs of both directions joined, forward states, backward states), the
      states one a layer.

    Raises:
      ValueError: no cells, not lists, or lists of different lengths.
    """

    def layer(fw: Any, bw: Any, state_fw: Any, state_bw: Any, x: Any, _: Any) -> Any:
        outputs, states = bidirectional_dynamic_rnn(
            fw,
            bw,
            x,
            initial_state_fw=state_fw,
            initial_state_bw=state_bw,
            sequence_length=sequence_length,
            parallel_iterations=parallel_iterations,
            dtype=dtype,
            swap_memory=swap_memory,
            time_major=time_major,
        )
        return array_ops.concat(outputs, 2), *states

    states = initial_states_fw, initial_states_bw
    return _stack(cells_fw, cells_bw, inputs, *states, scope, layer)
