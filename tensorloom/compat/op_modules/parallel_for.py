"""`pfor` and what is built on it (`tensorflow.python.ops.parallel_for`).

TensorFlow rewrites the body for all iterations at once. Here they are run one after the
other, in one loop: the results are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.map_fn import map_fn
from tensorloom.client.control_flow.vectorized_map import call_in_iteration
from tensorloom.client.functions.concrete_function import trace
from tensorloom.client.gradients.gradients import gradients
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import SCALAR
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.client.functions.func_graph import FuncGraph


def pfor(
    loop_fn: Callable[[Any], Any], iters: Any, parallel_iterations: int | None = None
) -> Any:
    """`loop_fn` of 0, 1, ..., its results stacked.

    Args:
      loop_fn: gets the number of the iteration, a scalar int32 tensor; it is called
        once, here. What it returns may be a structure; None and operations are None in
        the result.
      iters: how many iterations, an int or a scalar tensor.
      parallel_iterations: how many of them may run at once.

    Returns:
      The structure, of tensors [iters, ...].
    """
    returned: list[Any] = []

    def body(number: Any) -> Any:
        result = loop_fn(number)
        flat = nest.flatten(result, expand_composites=False)
        returned.append((result, [not _is_nothing(value) for value in flat]))
        kept = [value for value in flat if not _is_nothing(value)]
        return [convert_to_tensor(value) for value in kept]

    def make_arguments(graph: FuncGraph) -> tuple[list[Any], dict[str, Any]]:
        return [graph.add_argument(dtypes.int32, SCALAR, "iteration")], {}

    function = trace("pfor", make_arguments, body, [])
    result, kept = returned[0]
    stacked: list[Any] = []
    if any(kept):
        numbers = math_ops.range(convert_to_tensor(iters, dtypes.int32))
        stacked = map_fn(
            lambda number: call_in_iteration(function, [number]),
            numbers,
            dtype=function.output_dtypes,
            parallel_iterations=parallel_iterations,
        )
    values = iter(nest.flatten(stacked))
    return nest.pack_sequence_as(result, [next(values) if k else None for k in kept])


def _is_nothing(value: Any) -> bool:
    return value is None or isinstance(value, Operation)


def for_loop(
    loop_fn: Callable[[Any], Any],
    loop_fn_dtypes: Any,
    iters: Any,
    parallel_iterations: int | None = None,
) -> Any:
    """`pfor` as a loop, with the dtypes of the results told."""
    del loop_fn_dtypes
    return pfor(loop_fn, iters, parallel_iterations)


def jacobian(
    output: Any,
    inputs: Any,
    use_pfor: bool = True,
    parallel_iterations: int | None = None,
) -> Any:
    """The derivatives of each element of `output` by each of `inputs`.

    Returns:
      Tensors of shape output.shape + input.shape, in a structure like `inputs`; None
      for an input that the output does not depend on.
    """
    flat_inputs = nest.flatten(inputs)
    shape = array_ops.shape(output)
    elements = array_ops.reshape(output, [-1])

    def row(number: Any) -> Any:
        return gradients(array_ops.gather(elements, number), flat_inputs)

    rows = pfor(row, array_ops.shape(elements)[0], parallel_iterations)
    found = []
    for value, source in zip(rows, flat_inputs, strict=True):
        if value is not None:
            tail = array_ops.shape(value)[1:]
            value = array_ops.reshape(value, array_ops.concat([shape, tail], 0))
            value.set_shape(output.shape.concatenate(source.shape))
        found.append(value)
    return nest.pack_sequence_as(inputs, found)


def batch_jacobian(
    output: Any,
    inp: Any,
    use_pfor: bool = True,
    parallel_iterations: int | None = None,
) -> Any:
    """The derivatives within each element of a batch.

    Args:
      output: [batch, ...], where row b depends on row b of `inp` alone.
      inp: [batch, ...].

    Returns:
      [batch, ...output, ...inp]; None if the output does not depend on it.

    Raises:
      ValueError: the batch sizes differ.
    """
    if not output.shape[:1].is_compatible_with(inp.shape[:1]):
        raise ValueError(
            f"Need first dimension of output shape ({output.shape}) and inp shape "
            f"({inp.shape}) to match."
        )
    batch = array_ops.shape(output)[:1]
    flat = array_ops.reshape(output, array_ops.concat([batch, [-1]], 0))

    def column(number: Any) -> Any:
        return gradients(array_ops.gather(flat, number, axis=1), inp)[0]

    columns = pfor(column, array_ops.shape(flat)[1], parallel_iterations)
    if columns is None:
        return None
    order = [1, 0, *range(2, inp.shape.ndims + 1)]
    tail = array_ops.shape(columns)[2:]
    result = array_ops.reshape(
        array_ops.transpose(columns, order),
        array_ops.concat([array_ops.shape(output), tail], 0),
    )
    result.set_shape(output.shape.concatenate(inp.shape[1:]))
    return result
