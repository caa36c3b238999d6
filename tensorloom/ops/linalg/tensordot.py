"""`tf.tensordot`: sums of products over chosen axes, as one matrix product."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import permute as permute_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array import stack as stack_ops
from tensorloom.ops.indexing import gather as gather_ops
from tensorloom.ops.indexing import selection as selection_ops
from tensorloom.ops.linalg import matmul as matmul_ops
from tensorloom.ops.math import sequence as sequence_ops
from tensorloom.ops.reductions import reductions as reductions_ops


@export("tensordot", "linalg.tensordot")
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """The sum over products of elements of a and b along pairs of axes.

    Args:
      axes: how many last axes of a meet the first of b; or a pair of lists of axes;
        or an integer tensor [2, k] of them.

    Raises:
      ValueError: the axes do not make pairs, or are out of range.
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        axes_a, axes_b = _axes_of_both(a, axes)
        matrix_a, free_a, known_a = _as_matrix(a, axes_a, summed_first=False)
        matrix_b, free_b, known_b = _as_matrix(b, axes_b, summed_first=True)
        product = matmul_ops.matmul(matrix_a, matrix_b)
        if isinstance(free_a, list) and isinstance(free_b, list):
            return reshape_ops.reshape(product, free_a + free_b, name=scope)
        free_a = convert_to_tensor(free_a, dtype=dtypes.int32)
        free_b = convert_to_tensor(free_b, dtype=dtypes.int32)
        product = reshape_ops.reshape(
            product, concat_ops.concat([free_a, free_b], 0), name=scope
        )
        if known_a is not None and known_b is not None:
            product.set_shape(known_a + known_b)
        return product


def _axes_of_both(a: Tensor, axes: Any) -> tuple[Any, Any]:
    """The axes of a and of b that are summed over."""
    if isinstance(axes, int | np.integer):
        return _last_and_first(a, int(axes))
    if not isinstance(axes, list | tuple):
        axes = convert_to_tensor(axes, name="axes", dtype=dtypes.int32)
        return axes[0], axes[1]
    if len(axes) != 2:
        raise ValueError("'axes' must be an integer or have length 2.")
    axes_a, axes_b = axes
    if isinstance(axes_a, int | np.integer) and isinstance(axes_b, int | np.integer):
        axes_a, axes_b = [axes_a], [axes_b]
    if len(axes_a) != len(axes_b):
        raise ValueError(
            "Different number of contraction axes 'a' and 'b', "
            f"{len(axes_a)} != {len(axes_b)}."
        )
    return axes_a, axes_b


def _last_and_first(a: Tensor, count: int) -> tuple[Any, Any]:
    if count < 0:
        raise ValueError("'axes' must be at least 0.")
    rank = a.shape.rank
    if rank is None:
        dynamic = shape_ops.rank(a)
        return (
            sequence_ops.range(dynamic - count, dynamic, dtype=dtypes.int32),
            sequence_ops.range(count, dtype=dtypes.int32),
        )
    if count > rank:
        raise ValueError(
            f"'axes' must not be larger than the number of dimensions of tensor {a}."
        )
    return list(range(rank - count, rank)), list(range(count))


def _as_matrix(x: Tensor, axes: Any, summed_first: bool) -> tuple[Tensor, Any, Any]:
    """x as [free, summed] (or [summed, free]).

    Returns the matrix, the sizes of the free axes (a list where they are static, else
    a tensor), and what is statically known of them (None if not even the rank is).
    """
    dims = x.shape.dims_tuple
    if dims is None or not isinstance(axes, list | tuple):
        return *_matrix_of_unknown_rank(x, axes, summed_first), None
    axes = [i if i >= 0 else i + len(dims) for i in axes]
    free = [i for i in range(len(dims)) if i not in axes]
    free_dims = [dims[i] for i in free]
    if None in dims:
        free_tensor = [
            convert_to_tensor(v, dtype=dtypes.int32, name=n)
            for v, n in ((axes, "axes"), (free, "free"))
        ]
        matrix, sizes = _dynamic_matrix(
            x, shape_ops.shape(x), free_tensor[0], free_tensor[1], summed_first
        )
        return matrix, sizes, free_dims
    rows = math.prod(dims[i] or 0 for i in free)
    columns = math.prod(dims[i] or 0 for i in axes)
    perm = [*axes, *free] if summed_first else [*free, *axes]
    shape = [columns, rows] if summed_first else [rows, columns]
    matrix = reshape_ops.reshape(permute_ops.transpose(x, perm), shape)
    return matrix, free_dims, free_dims


def _matrix_of_unknown_rank(
    x: Tensor, axes: Any, summed_first: bool
) -> tuple[Tensor, Tensor]:
    shape = shape_ops.shape(x)
    rank = shape_ops.rank(x)
    axes = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
    axes = selection_ops.where(axes >= 0, axes, axes + rank)
    free, _ = selection_ops.setdiff1d(sequence_ops.range(rank), axes)
    return _dynamic_matrix(x, shape, axes, free, summed_first)


def _dynamic_matrix(
    x: Tensor, shape: Tensor, axes: Tensor, free: Tensor, summed_first: bool
) -> tuple[Tensor, Tensor]:
    free_sizes = gather_ops.gather(shape, free)
    summed_sizes = gather_ops.gather(shape, axes)
    rows = reductions_ops.reduce_prod(free_sizes)
    columns = reductions_ops.reduce_prod(summed_sizes)
    if summed_first:
        perm = concat_ops.concat([axes, free], 0)
        matrix_shape = stack_ops.stack([columns, rows])
    else:
        perm = concat_ops.concat([free, axes], 0)
        matrix_shape = stack_ops.stack([rows, columns])
    return reshape_ops.reshape(permute_ops.transpose(x, perm), matrix_shape), free_sizes
