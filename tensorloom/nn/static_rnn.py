"""Recurrent networks unrolled in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, unknown_shape
from tensorloom.nn.rnn_cell import check_is_cell, concat_shapes
from tensorloom.nn.rnn_step import (
    bounded_step,
    cache_variables,
    initial_state,
    state_dtype,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@export("nn.static_rnn", "contrib.rnn.static_rnn")
def static_rnn(
    cell: Any,
    inputs: Any,
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> Any:
    """Runs a cell over a list of inputs [batch, depth], one for each step.

    Args:
      cell: an RNNCell.
      inputs: a list of tensors, or of structures of them.
      initial_state: of the cell's `state_size`; zeros of `dtype` by default.
      sequence_length: int [batch]; outputs past it are zeros, the state stays.
      scope: variable scope, "rnn" by default.

    Returns:
      (list of outputs, final state).

    Raises:
      TypeError: not a cell, or not a list.
      ValueError: no inputs, shapes do not fit, or neither state nor dtype is given.
    """
    check_is_cell("cell", cell)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "rnn") as entered:
        cache_variables(entered)
        first = nest.flatten(inputs[0] if isinstance(inputs, Sequence) else inputs)[0]
        static_batch = _static_batch(first, inputs)
        batch_size = static_batch or array_ops.shape(first)[0]
        state = _state(cell, initial_state, batch_size, dtype)
        bounds = None
        if sequence_length is not None:
            kind = state_dtype(dtype, state)
            bounds = _bounds(cell, sequence_length, batch_size, static_batch, kind)
        outputs = []
        for time, value in enumerate(inputs):
            if time > 0:
                entered.reuse_variables()
            output, state = _step(cell, time, value, state, bounds)
            outputs.append(output)
        return outputs, state


def _state(cell: Any, state: Any, batch_size: Any, dtype: Any) -> Any:
    hint = "If no initial_state is provided, dtype must be specified"
    return initial_state(cell, state, batch_size, dtype, hint)


def _step(cell: Any, time: int, value: Any, state: Any, bounds: Any) -> Any:
    if bounds is None:
        return cell(value, state)
    zero_output, lengths, shortest, longest = bounds
    return bounded_step(
        time,
        lengths,
        shortest,
        longest,
        zero_output,
        state,
        lambda: cell(value, state),
    )


def _static_batch(first: Any, inputs: Any) -> int | None:
    """The first dimension of all inputs. Raises ValueError: an unknown depth."""
    if first.shape.rank == 1:
        return first.shape.as_list()[0]  # type: ignore[no-any-return]
    batch = first.shape.with_rank_at_least(2)[:1]
    for value in nest.flatten(inputs):
        shape = value.shape.with_rank_at_least(2)
        batch = batch.merge_with(shape[:1])
        for index, size in enumerate(shape[1:].as_list()):
            if size is None:
                raise ValueError(
                    f"Input size (dimension {index} of inputs) must be accessible via "
                    "shape inference, but saw value None."
                )
    return batch.as_list()[0]  # type: ignore[no-any-return]


def _bounds(
    cell: Any, sequence_length: Any, batch_size: Any, static_batch: Any, dtype: Any
) -> tuple[Any, Any, Any, Any]:
    """(zero output, lengths, shortest, longest)."""
    lengths = convert_to_tensor(sequence_length, name="sequence_length")
    if lengths.shape.rank not in (None, 1):
        raise ValueError("sequence_length must be a vector of length batch_size")

    def zeros(size: Any) -> Any:
        shape = array_ops.stack(concat_shapes(batch_size, size))
        output = array_ops.zeros(shape, dtype)
        output.set_shape(TensorShape(concat_shapes(static_batch, size, static=True)))
        return output

    flat = [zeros(size) for size in nest.flatten(cell.output_size)]
    zero_output = nest.pack_sequence_as(cell.output_size, flat)
    lengths = math_ops.cast(lengths, dtypes.int32)
    return (
        zero_output,
        lengths,
        math_ops.reduce_min(lengths),
        math_ops.reduce_max(lengths),
    )


@export("nn.static_state_saving_rnn", "contrib.rnn.static_state_saving_rnn")
def static_state_saving_rnn(
    cell: Any,
    inputs: Any,
    state_saver: Any,
    state_name: Any,
    sequence_length: Any = None,
    scope: Any = None,
) -> Any:
    """`static_rnn` whose state comes from, and goes back to, a saver.

    Args:
      state_saver: has `state(name)` and `save_state(name, value)`.
      state_name: a name, or a tuple of them where the cell's state is one.

    Raises:
      ValueError: names and states do not fit.
    """
    size = cell.state_size
    is_tuple = nest.is_nested(size)
    if is_tuple != nest.is_nested(state_name):
        raise ValueError(
            "state_name should be the same type as cell.state_size.  state_name: "
            f"{state_name}, cell.state_size: {size}"
        )
    names = nest.flatten(state_name)
    if len(names) != len(nest.flatten(size)):
        raise ValueError(
            f"#elems(state_name) != #elems(state_size): {len(names)} vs. "
            f"{len(nest.flatten(size))}"
        )
    start = nest.pack_sequence_as(size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(
        cell, inputs, initial_state=start, sequence_length=sequence_length, scope=scope
    )
    saves = [
        state_saver.save_state(name, part)
        for name, part in zip(names, nest.flatten(state), strict=True)
    ]
    with control_dependencies(saves):
        outputs[-1] = nest.map_structure(array_ops.identity, outputs[-1])
        state = nest.map_structure(array_ops.identity, state)
    return outputs, state


def _reversed(inputs: Any, lengths: Any) -> list[Any]:
    """The steps from the end of each sequence to its start, padding left in place."""
    if lengths is None:
        return list(reversed(inputs))
    flat = [nest.flatten(value) for value in inputs]
    results: list[list[Any]] = [[] for _ in inputs]
    for steps in zip(*flat, strict=True):
        shape = unknown_shape(rank=steps[0].shape.rank)
        for value in steps:
            value.set_shape(shape)
        joined = array_ops.reverse_sequence(array_ops.stack(steps), lengths, 0, 1)
        for value, parts in zip(array_ops.unstack(joined), results, strict=True):
            parts.append(value)
    return [
        nest.pack_sequence_as(value, parts)
        for value, parts in zip(inputs, results, strict=True)
    ]


@export("nn.static_bidirectional_rnn", "contrib.rnn.static_bidirectional_rnn")
def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> Any:
    """`static_rnn` with two cells, one of them from the end to the start.

    Returns:
      (outputs of both side by side, final state forwards, final state backwards).

    Raises:
      TypeError: a cell is none, or `inputs` is no sequence.
      ValueError: `inputs` is empty.
    """
    check_is_cell("cell_fw", cell_fw)
    check_is_cell("cell_bw", cell_bw)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw_scope:
            output_fw, state_fw = static_rnn(
                cell_fw,
                inputs,
                initial_state_fw,
                dtype,
                sequence_length,
                scope=fw_scope,
            )
        with variable_scope("bw") as bw_scope:
            output, state_bw = static_rnn(
                cell_bw,
                _reversed(inputs, sequence_length),
                initial_state_bw,
                dtype,
                sequence_length,
                scope=bw_scope,
            )
    output_bw = _reversed(output, sequence_length)
    pairs = zip(nest.flatten(output_fw), nest.flatten(output_bw), strict=True)
    joined = [array_ops.concat([fw, bw], 1) for fw, bw in pairs]
    return nest.pack_sequence_as(output_fw, joined), state_fw, state_bw
