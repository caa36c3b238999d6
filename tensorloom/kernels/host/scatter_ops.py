"""Scatter updates of variables: rows by index, or slices by index vectors.

The kernels take values of either kind; for a variable that holds a torch tensor the
arithmetic is in `kernels/scatter_ops.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.op_kernel import host_kernel
from tensorloom.kernels.variable_value import (
    format_shape,
    is_host,
    shape_of,
    to_host,
    uninitialized,
)

if TYPE_CHECKING:
    from tensorloom.framework.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.resource import Variable

KINDS = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")
ND_KINDS = ("NdUpdate", "NdAdd", "NdSub", "NdMin", "NdMax")
ROW_OPS = [f"{form}{kind}" for form in ("Scatter", "ResourceScatter") for kind in KINDS]
ND_OPS = [
    f"{form}{kind}" for form in ("Scatter", "ResourceScatter") for kind in ND_KINDS
]


def _assign_at(array: Any, indices: Any, updates: Any) -> None:
    array[indices] = updates


def _divide_at(array: Any, indices: Any, updates: Any) -> None:
    if array.dtype.kind not in "iu":
        np.divide.at(array, indices, updates)
        return
    for at, update in zip(
        indices, np.broadcast_to(updates, (len(indices), *array.shape[1:])), strict=True
    ):
        array[at] = np.trunc(array[at] / update)


_ARITHMETIC: dict[str, Callable[[Any, Any, Any], None]] = {
    "Update": _assign_at,
    "Add": np.add.at,
    "Sub": np.subtract.at,
    "Mul": np.multiply.at,
    "Div": _divide_at,
    "Min": np.minimum.at,
    "Max": np.maximum.at,
}


@host_kernel(ROW_OPS, any_inputs=("indices", "updates"), large=True)
def scatter_rows(c: OpKernelConstruction) -> Compute:
    """Combines rows of the variable with updates, in the order of the indices."""
    resource = c.op.startswith("Resource")
    kind = c.op.removeprefix("Resource").removeprefix("Scatter")

    def compute(variable: Variable, indices: Any, updates: Any) -> Variable | None:
        with variable.lock:
            rows = _rows(variable, resource)
            if not resource:
                _check_updates(variable, indices.shape, updates.shape)
            flat = indices if indices.ndim == 1 else indices.reshape(-1)
            _scatter(variable, kind, flat, updates, rows, indices.shape)
        return None if resource else variable

    return compute


def _check_updates(variable: Variable, indices: Any, updates: Any) -> None:
    """Of a reference variable; for resources TensorFlow 1.15 does not look."""
    shape = shape_of(variable.value)
    if len(updates) and tuple(updates) != (*indices, *shape[1:]):
        raise errors.InvalidArgumentError(
            None,
            None,
            "Must have updates.shape = indices.shape + params.shape[1:] or "
            f"updates.shape = [], got updates.shape {format_shape(updates)}, "
            f"indices.shape {format_shape(indices)}, params.shape "
            f"{format_shape(shape)}",
        )


def _rows(variable: Variable, resource: bool) -> int:
    if variable.value is None:
        raise uninitialized(variable, resource)
    shape = shape_of(variable.value)
    if not shape:
        raise errors.InvalidArgumentError(
            None, None, "params must be at least 1-D, got shape []"
        )
    return shape[0]


def _scatter(
    variable: Variable,
    kind: str,
    indices: Any,
    updates: Any,
    rows: int,
    indices_shape: Any,
) -> None:
    """Scatters into a variable whose first dimension the flat indices address."""
    if not are_inside(indices, rows):
        _raise_bad_row(to_host(indices), rows, tuple(indices_shape))
    if is_host(variable.value):
        array = np.array(variable.value)
        apply_numpy(kind, array, to_host(indices), to_host(updates))
        variable.value = array
    else:
        (_in_place or _load())(variable, kind, indices, updates)


# `scatter_in_place` of the kernels over tensors, which import torch, once it is needed.
_in_place: Callable[..., None] | None = None


def _load() -> Callable[..., None]:
    global _in_place
    from tensorloom.kernels import scatter_ops

    _in_place = scatter_ops.scatter_in_place
    return _in_place


def are_inside(indices: Any, rows: int) -> bool:
    """Whether all of the flat indices are in [0, rows)."""
    if not len(indices):
        return True
    if not is_host(indices):
        if not indices.is_cpu:
            return int(indices.min()) >= 0 and int(indices.max()) < rows
        indices = indices.numpy()
    # Read as unsigned, negative ones are too large: one pass finds both.
    unsigned = indices.view(np.uint32 if indices.itemsize == 4 else np.uint64)
    # `argmax` is a method in C, three times as fast as what finds a maximum.
    return bool(unsigned.item(unsigned.argmax()) < rows)


def apply_numpy(kind: str, array: Any, indices: Any, updates: Any) -> None:
    """Scatters into the rows of an array, in place."""
    if updates.ndim:
        updates = updates.reshape(len(indices), *array.shape[1:])
    _ARITHMETIC[kind](array, indices, updates)


def _raise_bad_row(indices: Any, rows: int, shape: tuple[int, ...]) -> None:
    bad = int(np.flatnonzero((indices < 0) | (indices >= rows))[0])
    where = ",".join(str(i) for i in np.unravel_index(bad, shape)) if shape else ""
    raise errors.InvalidArgumentError(
        None,
        None,
        f"indices[{where}] = {indices[bad]} is not in [0, {rows})"
        if where
        else f"indices = {indices[bad]} is not in [0, {rows})",
    )


@host_kernel(ND_OPS, any_inputs=("indices", "updates"), large=True)
def scatter_nd(c: OpKernelConstruction) -> Compute:
    """Combines slices at index vectors with updates."""
    resource = c.op.startswith("Resource")
    kind = c.op.removeprefix("Resource").removeprefix("ScatterNd")

    def compute(variable: Variable, indices: Any, updates: Any) -> Variable | None:
        with variable.lock:
            _rows(variable, resource)
            _scatter_nd(variable, kind, to_host(indices), updates)
        return None if resource else variable

    return compute


def _scatter_nd(variable: Variable, kind: str, indices: Any, updates: Any) -> None:
    shape = shape_of(variable.value)
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
    if is_host(variable.value):
        array = np.array(variable.value)
        apply_numpy(kind, array.reshape(-1, *slice_shape), flat, to_host(updates))
        variable.value = array
    else:
        (_in_place or _load())(variable, kind, flat, updates, slice_shape)


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
