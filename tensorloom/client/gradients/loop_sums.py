"""The gradients of what a loop reads and does not change: sums over the iterations.

They start from nothing in the backward loop, and each iteration adds its own part.
The parts of rows that were looked up stay rows: the loop collects them in lists, and
what comes out is an `IndexedSlices` of all of them, so that an embedding that a
decoder looks up is updated in the rows that it used, as outside of loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.gradients.cond_gradient import (
    dense_shape_of,
    row_dims,
    zeros_for,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.lists import list_ops

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.graph.tensor import Tensor


@dataclass(frozen=True, slots=True)
class LoopSum:
    """The sum for one loop variable."""

    loop_input: Tensor  # outside: what the forward loop got
    # Arguments of the backward body: the sum, or lists of the values and indices.
    arguments: tuple[Tensor, ...]

    def result(self, output_of: Callable[[Tensor], Tensor]) -> Any:
        """The gradient of `loop_input`, given the backward loop's outputs."""
        outputs = [output_of(argument) for argument in self.arguments]
        if len(outputs) == 1:
            return identity_ops.identity(outputs[0])
        dims = row_dims(self.loop_input)
        values, indices = outputs
        return IndexedSlices(
            _concatenated(values, [None, *(dims or ())]),
            _concatenated(indices, [None]),
            dense_shape_of(self.loop_input),
        )


def add_to_sum(
    graph: FuncGraph, loop_input: Tensor, gradient: Any
) -> tuple[LoopSum, list[Tensor]]:
    """Adds arguments for a sum to the backward body, and an iteration's part to them.

    Args:
      graph: the backward body, which is being built.
      gradient: of one iteration, a tensor or an IndexedSlices of `graph`.

    Returns:
      The sum, and what the body returns for its arguments.
    """
    dims = row_dims(loop_input)
    if isinstance(gradient, IndexedSlices) and dims is not None:
        parts = [gradient.values, gradient.indices]
        starts = [
            _empty_list(graph, parts[0], [None, *dims]),
            _empty_list(graph, parts[1], [None]),
        ]
        arguments = [FuncGraph.capture(graph, start) for start in starts]
        following = [
            list_ops.tensor_list_push_back(argument, part)
            for argument, part in zip(arguments, parts, strict=True)
        ]
    else:
        with graph.outer_graph.as_default():
            start = zeros_for(loop_input)
        arguments = [FuncGraph.capture(graph, start)]
        part = convert_to_tensor(gradient)
        following = [apply_op("AddN", inputs=[arguments[0], part])]
    return LoopSum(loop_input, tuple(arguments)), following


def _empty_list(graph: FuncGraph, part: Tensor, dims: list[int | None]) -> Tensor:
    outer = graph.outer_graph
    with outer.as_default(), outer.control_dependencies(None):
        return list_ops.empty_tensor_list(TensorShape(dims), part.dtype.base_dtype)


def _concatenated(handle: Tensor, dims: list[int | None]) -> Tensor:
    """The tensors of a list, one after the other."""
    data = handle._handle_data
    assert data is not None
    tensor: Tensor = apply_op(
        "TensorListConcatV2",
        input_handle=handle,
        element_shape=list_ops.element_shape_argument(TensorShape(dims)),
        leading_dims=convert_to_tensor([], dtype=dtypes.int64),
        element_dtype=data.dtype.base_dtype,
    )[0]
    return tensor
