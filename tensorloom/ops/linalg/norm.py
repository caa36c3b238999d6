"""Norms and traces."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import permute as permute_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.indexing import selection as selection_ops
from tensorloom.ops.linalg import matrix_diag as matrix_diag_ops
from tensorloom.ops.math import binary as binary_ops
from tensorloom.ops.math import complex as complex_ops
from tensorloom.ops.math import elementwise as elementwise_ops
from tensorloom.ops.math import sequence as sequence_ops
from tensorloom.ops.math.cast import cast
from tensorloom.ops.reductions import reductions as reductions_ops

_AXIS_MESSAGE = "'axis' must be None, an integer, or a tuple of 2 unique integers"
_MATRIX_NORMS = ["euclidean", "fro", 1, 2, np.inf]
_VECTOR_NORMS = ["euclidean", 1, 2, np.inf]


@export("linalg.trace", "trace")
def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum of the diagonal of each matrix of x [..., n, m]."""
    with name_scope(name, "Trace", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return reductions_ops.reduce_sum(
            matrix_diag_ops.matrix_diag_part(x), [-1], name=scope
        )


@export("norm", "linalg.norm")
def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors along one axis, of matrices along two, or of all elements.

    Args:
      ord: "euclidean", "fro", 1, 2, np.inf, or for vectors any positive number.
      axis: None (all elements as one vector), an integer, or a pair of them.

    Raises:
      ValueError: the order or the axis is not supported.
    """
    keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    of_matrix = isinstance(axis, tuple | list) and len(axis) == 2
    axes = _check_matrix(ord, axis) if of_matrix else _check_vector(ord, axis)
    with name_scope(name, "norm", [tensor]):
        tensor = convert_to_tensor(tensor)
        if ord in ["fro", "euclidean", 2, 2.0]:
            if of_matrix and ord in [2, 2.0]:
                result = _largest_singular_value(tensor, axes)
            else:
                result = elementwise_ops.sqrt(
                    reductions_ops.reduce_sum(
                        tensor * complex_ops.conj(tensor), axes, keepdims=True
                    )
                )
        else:
            result = _sum_norm(elementwise_ops.abs(tensor), ord, axes, of_matrix)
        return result if keepdims else reshape_ops.squeeze(result, axes)


def _check_matrix(order: Any, axis: Any) -> tuple[int, ...]:
    first, second = axis
    if not isinstance(first, int) or not isinstance(second, int) or first == second:
        raise ValueError(_AXIS_MESSAGE)
    if order not in _MATRIX_NORMS:
        raise ValueError(
            f"'ord' must be a supported matrix norm in {_MATRIX_NORMS}, got {order}"
        )
    return first, second


def _check_vector(order: Any, axis: Any) -> tuple[int, ...] | None:
    if not (isinstance(axis, int) or axis is None):
        raise ValueError(_AXIS_MESSAGE)
    named = order in _VECTOR_NORMS
    if not named and (isinstance(order, str) or not np.isreal(order) or order <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {order}")
    return None if axis is None else (axis,)


def _sum_norm(
    sizes: Tensor, order: Any, axes: tuple[int, ...] | None, of_matrix: bool
) -> Tensor:
    """The norms that need absolute values: 1, infinity, and p of vectors."""
    first = None if axes is None else axes[0]
    if order == 1:
        result = reductions_ops.reduce_sum(sizes, first, keepdims=True)
        if of_matrix and axes is not None:
            result = reductions_ops.reduce_max(result, axes[-1], keepdims=True)
        return result
    if order == np.inf:
        if of_matrix and axes is not None:
            sizes = reductions_ops.reduce_sum(sizes, axes[1], keepdims=True)
        return reductions_ops.reduce_max(sizes, first, keepdims=True)
    powers = reductions_ops.reduce_sum(
        binary_ops.pow(sizes, order), axes, keepdims=True
    )
    return binary_ops.pow(powers, 1.0 / order)


def _largest_singular_value(tensor: Tensor, axes: tuple[int, ...] | None) -> Tensor:
    """The 2-norm of the matrices along two axes, which keep size 1."""
    rank = shape_ops.rank(tensor)
    given = convert_to_tensor(axes)
    positive = selection_ops.where(given >= 0, given, given + rank)
    every = sequence_ops.range(rank)
    perm = concat_ops.concat(
        [selection_ops.setdiff1d(every, positive)[0], positive], axis=0
    )
    permuted = permute_ops.transpose(tensor, perm=perm)
    values = apply_op("Svd", input=permuted, compute_uv=False)[0]
    largest = reductions_ops.reduce_max(
        elementwise_ops.abs(values), axis=-1, keepdims=True
    )
    largest = reshape_ops.expand_dims(largest, axis=-1)
    inverse = cast(permute_ops.invert_permutation(perm), dtypes.int32)
    return permute_ops.transpose(largest, perm=inverse)


@export("linalg.normalize")
def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(tensor / its norm, the norm), with the axes of the norm kept.

    Raises:
      ValueError: the order or the axis is not supported.
    """
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        size = cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / size, size
