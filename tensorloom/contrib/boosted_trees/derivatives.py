"""The second derivatives of a loss, as the strategies for several classes need them."""

from __future__ import annotations

from typing import Any

from tensorloom.client.gradients.gradients import gradients as gradients_of
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.array.stack import stack, unstack
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.linalg.norm import trace
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.sequence import range as sequence
from tensorloom.ops.reductions.reductions import reduce_sum


def derivative(ys: Any, xs: Any, name: str) -> Any:
    """The gradient of ys by xs."""
    return gradients_of(ys, xs, name=name)[0]


def _rows(gradients: Any, predictions: Any, dimension: int) -> list[Any]:
    """Of each dimension's gradient the derivatives by all, [examples, dimensions]."""
    columns = unstack(gradients, num=dimension, axis=1)
    return [
        derivative(column, predictions, f"Hessian_{row}")
        for row, column in enumerate(columns)
    ]


def full_hessian(gradients: Any, predictions: Any, dimension: int) -> Any:
    """float32 [examples, dimensions, dimensions]."""
    return stack(_rows(gradients, predictions, dimension), axis=1)


def diagonal_hessian(gradients: Any, predictions: Any, dimension: int) -> Any:
    """float32 [examples, dimensions]."""
    rows = _rows(gradients, predictions, dimension)
    diagonal = [transpose(row)[place] for place, row in enumerate(rows)]
    return stack(diagonal, axis=1)


def column(values: Any, index: Any) -> Any:
    """One column of a matrix, [rows]; `index` is an int32 scalar."""
    size = shape(values)
    places = sequence(0, size[0]) * size[1] + cast(index, dtypes.int32)
    return gather(reshape(values, [-1]), places)


def example_weights(hessians: Any, rank: int) -> Any:
    """How much an example weighs in quantiles, [examples]; the trace of a matrix.

    Args:
      hessians: of the examples.
      rank: of one of them.
    """
    if rank == 0:
        return hessians
    return reduce_sum(hessians, axis=1) if rank == 1 else trace(hessians)
