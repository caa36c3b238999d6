"""Host kernels that take and put elements by index: Gather, GatherNd, ScatterNd."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array import checks
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.array.buffer_forwarding import makes_array
from tensorloom.kernels.host.array.fill import base_dtype, empty_of
from tensorloom.kernels.host.array.shape import scalar_or_array
from tensorloom.kernels.host.math.errors import shape_text

# --- gather -------------------------------------------------------------------------

_UNSIGNED = np.dtype(np.uint32)  # taken as it is, where a type is looked up first


@host_kernel("Gather")
def _gather(c: OpKernelConstruction) -> Compute:
    return lambda params, indices: gather(params, indices, 0, 0)


@host_kernel("GatherV2")
def _gather_v2(c: OpKernelConstruction) -> Compute:
    batch_dims = c["batch_dims"]
    is_short = c["Tindices"] == dtypes.int32
    axis = c.constant(2)
    is_of_rows = (
        axis is not None
        and axis.shape == ()
        and axis == 0
        and all(shape.rank for shape in c.input_shapes[:2])
    )

    def compute(params: Any, indices: Any, axis: Any) -> Any:
        at, batch = gather_axes(params.shape, indices.shape, axis, batch_dims)
        return gather(params, indices, at, batch)

    @makes_array
    def take_rows(params: Any, indices: Any, axis: Any) -> Any:
        # Read as unsigned, negative ones are too large.
        try:
            return params.take(indices.view(_UNSIGNED), 0)
        except IndexError:
            return compute(params, indices, axis)

    def compute_rows(params: Any, indices: Any, axis: Any) -> Any:
        if not is_of_rows and (axis != 0 or not params.ndim or not indices.ndim):
            return compute(params, indices, axis)
        if is_short:
            return take_rows(params, indices, axis)
        unsigned = indices.view(np.uint64)
        if unsigned.size and unsigned.item(unsigned.argmax()) < len(params):
            return params.take(indices, 0)
        return compute(params, indices, axis)

    def compute_handles(params: Any, indices: Any, axis: Any) -> Any:
        # A single handle at run time is the object itself.
        found = compute(params, indices, axis)
        is_scalar = isinstance(found, np.ndarray) and found.ndim == 0
        return found.item() if is_scalar else found

    is_handle = c["Tparams"] in (dtypes.resource, dtypes.variant)
    if is_handle:
        return compute_handles
    if batch_dims:
        return compute
    return take_rows if is_of_rows and is_short else compute_rows


def gather_axes(
    params: Sequence[int], indices: Sequence[int], axis: Any, batch_dims: int
) -> tuple[int, int]:
    """(axis, batch axes), counted from the front.

    All axes of `indices` may be of the batch, as in TensorFlow 2 and as the static
    shapes of 1.15 have it, whose kernel refuses that.

    Raises:
      InvalidArgumentError: they do not fit the shapes.
    """
    if not params:
        raise invalid_argument("params must be at least 1 dimensional")
    if axis.shape != ():
        raise invalid_argument("axis must be scalar")
    rank = len(params)
    if not -rank <= axis < rank:
        raise invalid_argument(
            f"Expected axis in the range [{-rank}, {rank}), but got {int(axis)}"
        )
    at = int(axis) % rank
    batch = batch_dims
    if batch:
        if not -len(indices) <= batch <= len(indices):
            raise invalid_argument(
                f"Expected batch_dims in the range [{-len(indices)}, {len(indices)}], "
                f"but got {batch}"
            )
        batch += len(indices) if batch < 0 else 0
        _check_batch(params, indices, at, batch)
    return at, batch


def _check_batch(
    params: Sequence[int], indices: Sequence[int], axis: int, batch: int
) -> None:
    if batch >= len(params):
        raise invalid_argument(
            f"batch_dims ({batch}) must be less than rank(params) ({len(params)})."
        )
    if axis < batch:
        raise invalid_argument(
            f"batch_dims ({batch}) must be less than or equal to axis ({axis})."
        )
    for i in range(batch):
        if params[i] != indices[i]:
            raise invalid_argument(
                f"params.shape[{i}]: {params[i]} should be equal to indices.shape[{i}]:"
                f" {indices[i]}"
            )


def gather(params: Any, indices: Any, axis: int, batch: int) -> Any:
    """Slices of an array along an axis."""
    check_indices(indices, params.shape[axis])
    if not batch:
        if params.dtype == object and params.ndim == 1 and not np.ndim(indices):
            return params[int(indices) : int(indices) + 1].reshape(())
        return params.take(indices, axis)
    # The axis moved behind the batch, taken there, and the middle moved back in front.
    moved = np.moveaxis(params, axis, batch)
    rows = _batch_grid(params.shape[:batch], np.ndim(indices))
    taken = moved[(*rows, np.asarray(indices))]
    inner = np.ndim(indices) - batch
    source = list(range(batch, batch + inner))
    target = list(range(axis, axis + inner))
    return np.moveaxis(taken, source, target)


def _batch_grid(sizes: Sequence[int], rank: int) -> list[Any]:
    return [
        np.arange(size).reshape((1,) * i + (size,) + (1,) * (rank - i - 1))
        for i, size in enumerate(sizes)
    ]


_FEW = 64


def check_indices(indices: Any, limit: int) -> None:
    """Raises InvalidArgumentError unless all indices are in [0, limit)."""
    if not indices.ndim:
        if not 0 <= indices < limit:
            raise invalid_argument(f"indices = {indices} is not in [0, {limit})")
        return
    if indices.size <= _FEW:  # Python's min and max are faster then
        listed = indices.ravel().tolist()
        if not listed or (min(listed) >= 0 and max(listed) < limit):
            return
    bad = np.argwhere((indices < 0) | (indices >= limit))
    if len(bad):
        place = tuple(bad[0].tolist())
        at = ",".join(map(str, place))
        raise invalid_argument(
            f"indices[{at}] = {indices[place]} is not in [0, {limit})"
        )


# --- coordinates --------------------------------------------------------------------


@host_kernel("GatherNd")
def _gather_nd(c: OpKernelConstruction) -> Compute:
    def compute(params: Any, indices: Any) -> Any:
        if (
            0 < indices.size <= _FEW_COORDINATES
            and indices.shape[-1] == params.ndim > 0
        ):
            few = _few_elements(params, indices)
            if few is not None:
                return scalar_or_array(few)
        flat, shape = gather_nd_plan(params.shape, indices)
        depth = indices.shape[-1]
        rows = np.reshape(
            params, (math.prod(params.shape[:depth]), *params.shape[depth:])
        )
        return scalar_or_array(rows[flat].reshape(shape))

    return compute


# NumPy looks up so many coordinates faster than they become numbers of rows.
_FEW_COORDINATES: Final = 4096


def _few_elements(params: Any, indices: Any) -> Any:
    """The elements at some coordinates; None if one of them is out of range."""
    if indices.min() < 0:
        return None
    coordinates = indices.reshape(-1, params.ndim)
    try:
        found = params[tuple(coordinates.T)]
    except IndexError:
        return None
    return found.reshape(indices.shape[:-1])


def gather_nd_plan(shape: Sequence[int], indices: Any) -> tuple[Any, tuple[int, ...]]:
    """(flat row of each coordinate, shape of the result).

    Raises:
      InvalidArgumentError: a coordinate out of range, or too many coordinates.
    """
    if not indices.ndim:
        raise invalid_argument("indices must be at least a vector")
    depth = indices.shape[-1]
    if depth > len(shape):
        raise invalid_argument(
            f"index innermost dimension length must be <= params rank; saw: {depth} "
            f"vs. {len(shape)}"
        )
    if math.prod(indices.shape[:-1]) and not math.prod(shape):
        raise invalid_argument(
            f"Requested more than 0 entries, but params is empty.  Params shape: "
            f"{shape_text(shape)}"
        )
    flat = flat_rows(indices, shape, gathers=True)
    return flat, (*indices.shape[:-1], *shape[depth:])


def flat_rows(indices: Any, shape: Sequence[int], gathers: bool = False) -> Any:
    """Coordinates in the last axis of `indices` as numbers of rows.

    Raises:
      InvalidArgumentError: one is out of range.
    """
    depth = indices.shape[-1]
    coordinates = np.asarray(indices).reshape(math.prod(indices.shape[:-1]), depth)
    rows = np.zeros(len(coordinates), np.int64)
    # One place of all coordinates at a time: comparing short rows takes four times as
    # long.
    for i, limit in enumerate(shape[:depth] if len(rows) else ()):
        column = np.ascontiguousarray(coordinates[:, i], np.int64)
        # Read without a sign, a negative number is a great one.
        if column.view(np.uint64).max() >= limit:
            _out_of_range(coordinates, indices.shape[:-1], shape, gathers)
        rows *= limit
        rows += column
    return rows


def _out_of_range(
    coordinates: Any, place_shape: Sequence[int], shape: Sequence[int], gathers: bool
) -> None:
    """Raises InvalidArgumentError for the first bad one of coordinates [n, depth]."""
    limits = np.array(shape[: coordinates.shape[1]], np.int64)
    bad = np.flatnonzero(((coordinates < 0) | (coordinates >= limits)).any(axis=1))[0]
    place = np.unravel_index(bad, place_shape) if place_shape else ()
    at = ",".join(str(int(i)) for i in place)
    found = ", ".join(str(i) for i in coordinates[bad].tolist())
    where = f"indices[{at}] = " if at else "indices = "
    what = "param shape" if gathers else "shape"
    raise invalid_argument(
        f"{where}[{found}] does not index into {what} {shape_text(shape)}"
    )


# --- scatter ------------------------------------------------------------------------


def check_scatter(shape: Sequence[int], indices: Any, updates: Sequence[int]) -> None:
    """Checks the shapes of a ScatterNd.

    Raises:
      InvalidArgumentError: they do not fit.
    """
    if not indices.ndim:
        raise invalid_argument(
            "Indices shape must have rank at least one. Found:"
            f"{shape_text(indices.shape)}"
        )
    outer, depth = indices.ndim - 1, indices.shape[-1]
    if tuple(updates[:outer]) != tuple(indices.shape[:-1]):
        raise invalid_argument(
            "Outer dimensions of indices and update must match. Indices shape: "
            f"{shape_text(indices.shape)}, updates shape:{shape_text(updates)}"
        )
    if depth > len(shape) or tuple(updates[outer:]) != tuple(shape[depth:]):
        raise invalid_argument(
            "Inner dimensions of output shape must match inner dimensions of updates "
            f"shape. Output: {shape_text(shape)} updates: {shape_text(updates)}"
        )
    if 0 in shape and 0 not in updates:
        raise invalid_argument("Indices and updates specified for empty output tensor")


@host_kernel("ScatterNd")
def _scatter_nd(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device
    combine = _COMBINE["Add"] if dtype != dtypes.string else _put

    def compute(indices: Any, updates: Any, shape: Any) -> Any:
        sizes = checks.shape_vector(shape, dtype, device, "Shape")
        check_shape(sizes, dtype, device)
        check_scatter(sizes, indices, updates.shape)
        result = np.full(sizes, empty_of(dtype), base_dtype(dtype))
        return _scatter(result, indices, updates, combine)

    return compute


def _scatter(
    result: Any, indices: Any, updates: Any, combine: Callable[..., Any]
) -> Any:
    """Combines updates into an array that is the caller's own."""
    shape = result.shape
    depth = indices.shape[-1]
    if math.prod(updates.shape):
        rows = flat_rows(indices, shape)
        flat = result.reshape((math.prod(shape[:depth]), *shape[depth:]))
        combine(flat, rows, np.reshape(updates, (len(rows), *shape[depth:])))
    return scalar_or_array(result)


def _put(target: Any, rows: Any, values: Any) -> None:
    target[rows] = values


_COMBINE: dict[str, Callable[..., Any]] = {
    "Update": _put,
    "Add": np.add.at,
    "Sub": np.subtract.at,
    "Min": np.minimum.at,
    "Max": np.maximum.at,
}


def _tensor_scatter(name: str) -> Callable[[OpKernelConstruction], Compute]:
    combine = _COMBINE[name]

    def factory(c: OpKernelConstruction) -> Compute:
        def compute(tensor: Any, indices: Any, updates: Any) -> Any:
            check_scatter(tensor.shape, indices, updates.shape)
            return _scatter(np.array(tensor), indices, updates, combine)

        return compute

    return factory


for _name in _COMBINE:
    host_kernel(f"TensorScatter{_name}")(_tensor_scatter(_name))
host_kernel("ScatterNdNonAliasingAdd")(_tensor_scatter("Add"))
