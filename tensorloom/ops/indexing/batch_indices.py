"""Indices into several leading axes, flattened to indices into one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import stack as stack_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


def batch_indices(
    sizes: Tensor,
    indices: Tensor,
    batch_dims: int,
    make_range: Callable[..., Tensor],
    stride: Any = None,
) -> Tensor:
    """Indices into the first `batch_dims + 1` axes flattened to one.

    Args:
      sizes: the shape of what is indexed, of the dtype of `indices`.
      make_range: (start, limit, delta) -> vector.
      stride: a one of the dtype of `indices`; made here when None.
    """
    dtype = indices.dtype.base_dtype
    rank = indices.shape.rank
    if rank is None:
        raise TypeError("The gradient of a batched gather needs the rank of its params")
    if stride is None:
        stride = fill_ops.ones((), dtype=dtype)
    for dim in range(batch_dims, 0, -1):
        size = sizes[dim - 1]
        stride = stride * sizes[dim]
        start = fill_ops.zeros((), dtype=dtype)
        step = fill_ops.ones((), dtype=dtype)
        offsets = make_range(start, size, step) * stride
        shape = stack_ops.stack([1] * (dim - 1) + [size] + [1] * (rank - dim), axis=0)
        indices = indices + reshape_ops.reshape(offsets, shape)
    return indices
