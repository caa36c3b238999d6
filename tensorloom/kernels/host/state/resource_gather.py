"""Gathers from resource variables in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.state.array_scatter import are_inside
from tensorloom.kernels.host.state.scatter import flatten_index_vectors
from tensorloom.kernels.torch.state.variable_value import (
    held_array,
    to_host,
    uninitialized_resource,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.resource import Variable


def held_value(handle: Variable) -> Any:
    """The variable's value.

    Raises:
      errors.NotFoundError: it has none.
    """
    value = handle.value_between_updates()
    if value is None:
        raise uninitialized_resource(handle)
    return value


def check_rows(indices: Any, rows: int) -> None:
    """Raises InvalidArgumentError when an index is not in [0, rows)."""
    if not indices.size or are_inside(indices.reshape(-1), rows):
        return
    bad = (indices < 0) | (indices >= rows)
    if not bad.any():
        return
    at = np.argwhere(bad)[0] if indices.ndim else ()
    where = f"[{','.join(str(i) for i in at)}]" if indices.ndim else ""
    raise errors.InvalidArgumentError(
        None, None, f"indices{where} = {indices[tuple(at)]} is not in [0, {rows})"
    )


@host_kernel("ResourceGather")
def resource_gather(c: OpKernelConstruction) -> Compute:
    """Rows of the variable, batch by batch with batch_dims."""
    batch_dims: int = c["batch_dims"]

    def compute(handle: Variable, indices: Any) -> Any:
        params = np.asarray(held_array(held_value(handle)))
        indices = np.asarray(indices)
        if not batch_dims and are_inside(indices.reshape(-1), len(params)):
            return to_host(params.take(indices, 0))
        check_rows(indices, params.shape[batch_dims])
        grid = np.indices(indices.shape[:batch_dims], sparse=True)
        extra = (1,) * (indices.ndim - batch_dims)
        batch = [g.reshape(g.shape + extra) for g in grid]
        return params[(*batch, indices)]

    return compute


@host_kernel("ResourceGatherNd")
def resource_gather_nd(c: OpKernelConstruction) -> Compute:
    """Slices of the variable at index vectors."""

    def compute(handle: Variable, indices: Any) -> Any:
        params = np.asarray(held_array(held_value(handle)))
        flat, depth = flat_indices(np.asarray(indices), params.shape)
        slices = params.reshape(-1, *params.shape[depth:])[flat]
        return to_host(slices.reshape(indices.shape[:-1] + params.shape[depth:]))

    return compute


def flat_indices(indices: Any, shape: tuple[int, ...]) -> tuple[Any, int]:
    """Index vectors as flat indices over the leading dimensions, and how many."""
    depth = indices.shape[-1]
    vectors = indices.reshape(-1, depth)
    try:
        return flatten_index_vectors(vectors, shape, indices.shape), depth
    except errors.InvalidArgumentError as error:
        text = error.message.replace("index into shape", "index into param shape")
        raise errors.InvalidArgumentError(None, None, text) from None
