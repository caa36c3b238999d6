"""What recurrent networks share: layout, batch size, steps past the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, colocate_with, get_default_graph
from tensorloom.framework.types import nest
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.array import array_ops
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import math_ops


def cache_variables(scope: Any) -> None:
    """Reads variables once for all steps, beside the operations that use them."""
    if get_default_graph().building_function:
        return
    if scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


@export("contrib.rnn.transpose_batch_time")
def transpose_batch_time(x: Any) -> Any:
    """[batch, time, ...] <-> [time, batch, ...]; vectors and scalars as they are."""
    static = x.shape
    if static.rank is not None and static.rank < 2:
        return x
    rank = array_ops.rank(x)
    order = array_ops.concat(([1, 0], math_ops.range(2, rank)), axis=0)
    result = array_ops.transpose(x, order)
    if static.rank is not None:
        sizes = static.as_list()
        result.set_shape([sizes[1], sizes[0], *sizes[2:]])
    return result


@export("contrib.rnn.best_effort_input_batch_size")
def batch_size_of(flat_input: Sequence[Tensor]) -> Any:
    """Of inputs [time, batch, ...]: a number where one is known, else a tensor.

    Raises:
      ValueError: an input has fewer than two dimensions.
    """
    for value in flat_input:
        shape = value.shape
        if shape.rank is None:
            continue
        if shape.rank < 2:
            raise ValueError(f"Expected input tensor {value} to have rank at least 2")
        size = shape.as_list()[1]
        if size is not None:
            return size
    return array_ops.shape(flat_input[0])[1]


def state_dtype(dtype: Any, state: Any) -> Any:
    """The given dtype, or the one that all states have. Raises ValueError."""
    if dtype is not None:
        return dtype
    if not nest.is_nested(state):
        return state.dtype
    kinds = [element.dtype for element in nest.flatten(state)]
    if not kinds:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(kind != kinds[0] for kind in kinds):
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single "
            "representative dtype."
        )
    return kinds[0]


def static_shape(size: Any) -> TensorShape:
    """A cell's size (number, shape or tensor) as a static shape."""
    return as_shape(constant_value(size) if isinstance(size, Tensor) else size)


def initial_state(cell: Any, state: Any, batch_size: Any, dtype: Any, hint: str) -> Any:
    """The given state, or zeros. Raises ValueError(hint) without either."""
    if state is not None:
        return state
    if not dtype:
        raise ValueError(hint)
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def keep_where(finished: Any, old: Any, new: Any) -> Any:
    """`old` in the rows that are finished, `new` in the others."""
    if isinstance(old, TensorArray) or old.shape.rank == 0:
        return new
    with colocate_with(new):
        return array_ops.where(finished, old, new)


def bounded_step(
    time: Any,
    lengths: Any,
    shortest: Any,
    longest: Any,
    zero_output: Any,
    state: Any,
    call_cell: Callable[[], Any],
    skip_conditionals: bool = False,
) -> Any:
    """A step where some sequences may have ended.

    Rows past their length get a zero output and keep their state.

    Args:
      time: number of this step.
      lengths: of the sequences, int32 [batch]; `shortest`, `longest`: of them.
      call_cell: gives (output, new state).
      skip_conditionals: runs the cell even when all sequences have ended.
    """
    zeros, states = nest.flatten(zero_output), nest.flatten(state)
    finished = time >= lengths

    def run() -> list[Any]:
        output, new_state = call_cell()
        nest.assert_same_structure(zero_output, output)
        nest.assert_same_structure(state, new_state)
        return [*nest.flatten(output), *nest.flatten(new_state)]

    def mixed(new: list[Any]) -> list[Any]:
        pairs = zip([*zeros, *states], new, strict=True)
        return [keep_where(finished, old, value) for old, value in pairs]

    def run_some() -> Any:
        new = run()
        return cond(time < shortest, lambda: new, lambda: mixed(new))

    if skip_conditionals:
        results = mixed(run())
    else:
        results = cond(time >= longest, lambda: [*zeros, *states], run_some)
    for result, old in zip(results, [*zeros, *states], strict=True):
        if not isinstance(result, TensorArray):
            result.set_shape(old.shape)
    output = nest.pack_sequence_as(zero_output, results[: len(zeros)])
    return output, nest.pack_sequence_as(state, results[len(zeros) :])
