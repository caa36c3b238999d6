"""Scattering rows and slices into variables that hold torch tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tensorloom.kernels.host.state.array_scatter import (
    apply_numpy,
    are_inside,
    bad_row,
    flat_updates,
)
from tensorloom.kernels.torch.state.row_updates import add_each_row, add_rows_in_loop
from tensorloom.kernels.torch.state.variable_value import (
    exclusive,
    held_array,
    to_host,
    to_tensor,
)

if TYPE_CHECKING:
    from tensorloom.framework.runtime.resource import Variable

# torch does not compute with these.
_STORED_ONLY = (torch.uint16, torch.uint32, torch.uint64)
_REDUCTIONS = {"Mul": "prod", "Min": "amin", "Max": "amax"}
_SIGNS = {"Add": 1, "Sub": -1}


def scatter_rows(
    variable: Variable, kind: str, indices: Any, updates: Any, resource: bool
) -> None:
    """Scatters into rows of a variable's tensor; call under its lock.

    Args:
      kind: "Update", "Add", "Sub", "Mul", "Div", "Min" or "Max".
      indices: of any shape.
      updates: a scalar, or a row for each index.
      resource: whether the variable is a resource.

    Raises:
      errors.InvalidArgumentError: the shapes do not fit, or an index is out of range.
    """
    held = exclusive(variable)
    try:
        array = held_array(held) if held.is_cpu else None
        shape = held.shape if array is None else array.shape
        rows = flat_updates(shape, indices, updates, resource)
        flat = indices if indices.ndim == 1 else indices.reshape(-1)
        if not _scatter(held, array, kind, flat, rows):
            raise bad_row(indices, shape[0])
    finally:
        variable.value = held


def scatter_slices(
    variable: Variable,
    kind: str,
    indices: Any,
    updates: Any,
    slice_shape: tuple[int, ...],
) -> None:
    """Scatters into slices of a variable's tensor; call under its lock.

    Args:
      kind: as for `scatter_rows`.
      indices: [n], each inside of the dimensions before those of a slice, as one.
      updates: a scalar, or n slices.
      slice_shape: the shape of what one index addresses.
    """
    held = exclusive(variable)
    try:
        array = held_array(held).reshape(-1, *slice_shape) if held.is_cpu else None
        _scatter(held.view(-1, *slice_shape), array, kind, indices, updates)
    finally:
        variable.value = held


def _scatter(
    target: torch.Tensor, array: Any, kind: str, indices: Any, updates: Any
) -> bool:
    """Combines rows of a tensor, whose memory `array` shows if it is the CPU's.

    Returns:
      Whether all indices [n] are inside; nothing was changed if they are not.
    """
    sign = _SIGNS.get(kind)
    if sign is not None and array is not None and updates.ndim:
        # The common case, a sparse gradient: the loop looks at the indices, too.
        is_done = add_rows_in_loop(array, indices, updates, sign)
        if is_done is not None:
            return is_done
    if not are_inside(indices, target.shape[0]):
        return False
    if target.dtype in _STORED_ONLY:
        # NumPy does: in the tensor's memory, or in a copy of it from a device.
        values = to_host(target)
        apply_numpy(kind, values, to_host(indices), to_host(updates))
        if not target.is_cpu:
            target.copy_(to_tensor(values))
    else:
        place = None if target.is_cpu else target.device
        update, index = to_tensor(updates, place), to_tensor(indices, place)
        _combine(kind, target, index, update)
    return True


def _combine(
    kind: str, target: torch.Tensor, index: torch.Tensor, update: torch.Tensor
) -> None:
    """Combines rows of a tensor with a scalar, or with a row for each index."""
    if not update.dim():
        update = update.expand(index.shape[0], *target.shape[1:])
    if kind in _SIGNS:
        add_each_row(target, index, update, _SIGNS[kind])
        return
    index = index.to(torch.int64)
    if kind == "Update":
        target.index_copy_(0, index, update)
    elif kind == "Div":
        _divide(target, index, update)
    else:
        # Not index_reduce_, which warns that it is in beta.
        rows = index.reshape(-1, *[1] * (update.dim() - 1)).expand(update.shape)
        target.scatter_reduce_(0, rows, update, _REDUCTIONS[kind])


def _divide(target: torch.Tensor, index: torch.Tensor, update: torch.Tensor) -> None:
    rounding = (
        None if target.dtype.is_floating_point or target.is_complex() else "trunc"
    )
    if len(torch.unique(index)) == len(index):
        rows = torch.div(target[index], update, rounding_mode=rounding)
        target.index_copy_(0, index, rows)
        return
    for at, row in zip(index.tolist(), update, strict=True):
        target[at] = torch.div(target[at], row, rounding_mode=rounding)
