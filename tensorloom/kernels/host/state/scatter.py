"""Scatter updates of variables: rows by index, or slices by index vectors.

The kernels take values of either kind; for a variable that holds a torch tensor the
arithmetic is in `kernels/torch/state/tensor_scatter.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.state.array_scatter import (
    apply_numpy,
    are_inside,
    bad_row,
    flat_updates,
    no_rows,
)
from tensorloom.kernels.torch.state.variable_value import (
    format_shape,
    is_host,
    shape_of,
    to_host,
    uninitialized,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.resource import Variable

KINDS = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")
ND_KINDS = ("NdUpdate", "NdAdd", "NdSub", "NdMin", "NdMax")
ROW_OPS = [f"{form}{kind}" for form in ("Scatter", "ResourceScatter") for kind in KINDS]
ND_OPS = [
    f"{form}{kind}" for form in ("Scatter", "ResourceScatter") for kind in ND_KINDS
]


@host_kernel(ROW_OPS, any_inputs=("indices", "updates"), large=True)
def scatter_rows(c: OpKernelConstruction) -> Compute:
    """Combines rows of the variable with updates, in the order of the indices."""
    resource = c.op.startswith("Resource")
    kind = c.op.removeprefix("Resource").removeprefix("Scatter")

    def compute(variable: Variable, indices: Any, updates: Any) -> Variable | None:
        with variable.lock:
            if variable.value is None:
                raise uninitialized(variable, resource)
            if is_host(variable.value):
                _scatter_array(variable, kind, indices, updates, resource)
            else:
                (_in_place or _load())[0](variable, kind, indices, updates, resource)
        return None if resource else variable

    return compute


def _scatter_array(
    variable: Variable, kind: str, indices: Any, updates: Any, resource: bool
) -> None:
    array = np.array(variable.value)
    rows = to_host(flat_updates(array.shape, indices, updates, resource))
    if not are_inside(indices.reshape(-1), len(array)):
        raise bad_row(indices, len(array))
    apply_numpy(kind, array, to_host(indices.reshape(-1)), rows)
    variable.value = array


# `scatter_rows` and `scatter_slices` of the kernels over tensors, which import torch,
# once they are needed.
_in_place: tuple[Callable[..., None], Callable[..., None]] | None = None


def _load() -> tuple[Callable[..., None], Callable[..., None]]:
    global _in_place
    from tensorloom.kernels.torch.state import tensor_scatter

    _in_place = tensor_scatter.scatter_rows, tensor_scatter.scatter_slices
    return _in_place


@host_kernel(ND_OPS, any_inputs=("indices", "updates"), large=True)
def scatter_nd(c: OpKernelConstruction) -> Compute:
    """Combines slices at index vectors with updates."""
    resource = c.op.startswith("Resource")
    kind = c.op.removeprefix("Resource").removeprefix("ScatterNd")

    def compute(variable: Variable, indices: Any, updates: Any) -> Variable | None:
        with variable.lock:
            if variable.value is None:
                raise uninitialized(variable, resource)
            combine_slices(variable, kind, to_host(indices), updates)
        return None if resource else variable

    return compute


def combine_slices(variable: Variable, kind: str, indices: Any, updates: Any) -> None:
    """Combines slices of a variable, whose lock is held, with updates.

    Raises:
      errors.InvalidArgumentError: an index vector or the updates do not fit.
    """
    shape = shape_of(variable.value)
    if not shape:
        raise no_rows()
    indices = np.asarray(indices)
    depth = indices.shape[-1] if indices.ndim else 1
    vectors = indices.reshape(-1, depth)
    flat = flatten_index_vectors(vectors, shape, indices.shape)
    slice_shape = shape[depth:]
    updated = shape_of(updates)
    if not indices.size and 0 not in updated:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Indices and updates specified for empty output.  indices shape: "
            f"{format_shape(indices.shape)}",
        )
    if len(vectors) and updated != (*indices.shape[:-1], *slice_shape):
        raise errors.InvalidArgumentError(
            None,
            None,
            "Must have updates.shape = indices.shape[:batch_dim] + "
            f"params_shape[slice_dim:], got updates.shape: {format_shape(updated)}, "
            f"indices.shape: {format_shape(indices.shape)}, params_shape: "
            f"{format_shape(shape)}",
        )
    if updates.ndim:
        updates = updates.reshape(len(vectors), *slice_shape)
    if is_host(variable.value):
        array = np.array(variable.value)
        apply_numpy(kind, array.reshape(-1, *slice_shape), flat, to_host(updates))
        variable.value = array
    else:
        (_in_place or _load())[1](variable, kind, flat, updates, slice_shape)


def flatten_index_vectors(
    vectors: Any, shape: tuple[int, ...], indices_shape: tuple[int, ...]
) -> Any:
    """Index vectors [n, k] into `shape` as flat indices [n] over its first k dims.

    Raises:
      errors.InvalidArgumentError: a vector is too long or out of range.
    """
    depth = vectors.shape[1]
    if depth > len(shape):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Inner dimension of indices must be <= params.dims(), got {depth} > "
            f"{len(shape)}",
        )
    outer = np.array(shape[:depth], np.int64)
    bad = ((vectors < 0) | (vectors >= outer)).any(axis=1)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        where = ",".join(str(i) for i in np.unravel_index(at, indices_shape[:-1]))
        raise errors.InvalidArgumentError(
            None,
            None,
            f"indices[{where}] = {vectors[at].tolist()} does not index into shape "
            f"{format_shape(shape)}",
        )
    strides = np.append(np.cumprod(outer[:0:-1])[::-1], 1)[:depth].astype(np.int64)
    return vectors.astype(np.int64) @ strides
