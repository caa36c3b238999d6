"""Scattering rows into arrays: checks of the indices and updates, the arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.kernels.torch.state.variable_value import format_shape, is_host, to_host


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


def flat_updates(
    shape: tuple[int, ...], indices: Any, updates: Any, resource: bool
) -> Any:
    """A row for each index in a variable of that shape, [n, ...]; a scalar as it is.

    Raises:
      errors.InvalidArgumentError: the shapes do not fit.
    """
    if not shape:
        raise no_rows()
    fits = updates.shape == (*indices.shape, *shape[1:])
    if (fits and indices.ndim == 1) or not updates.ndim:
        return updates
    if not fits and not resource:  # for resources TensorFlow 1.15 does not look
        raise errors.InvalidArgumentError(
            None,
            None,
            "Must have updates.shape = indices.shape + params.shape[1:] or "
            f"updates.shape = [], got updates.shape {format_shape(updates.shape)}, "
            f"indices.shape {format_shape(indices.shape)}, params.shape "
            f"{format_shape(shape)}",
        )
    return updates.reshape(math.prod(indices.shape), *shape[1:])


def no_rows() -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(
        None, None, "params must be at least 1-D, got shape []"
    )


def bad_row(indices: Any, rows: int) -> errors.InvalidArgumentError:
    """The error of the first index that is not in [0, rows)."""
    found = np.asarray(to_host(indices))
    place = tuple(np.argwhere((found < 0) | (found >= rows))[0].tolist())
    where = f"[{','.join(map(str, place))}]" if place else ""
    return errors.InvalidArgumentError(
        None, None, f"indices{where} = {found[place]} is not in [0, {rows})"
    )


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
    """Combines the rows of an array with a scalar, or with a row for each index."""
    _ARITHMETIC[kind](array, indices, updates)
