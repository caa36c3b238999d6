"""Scatter updates of variables that hold torch tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tensorloom.framework.op_kernel import kernel
from tensorloom.kernels.host import scatter_ops as host_scatter_ops
from tensorloom.kernels.row_updates import add_rows
from tensorloom.kernels.variable_value import exclusive, to_host, to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.resource import Variable

kernel(host_scatter_ops.ROW_OPS, any_inputs=("indices", "updates"))(
    host_scatter_ops.scatter_rows
)
kernel(host_scatter_ops.ND_OPS, any_inputs=("indices", "updates"))(
    host_scatter_ops.scatter_nd
)

# torch does not compute with these.
_STORED_ONLY = (torch.uint16, torch.uint32, torch.uint64)
_REDUCTIONS = {"Mul": "prod", "Min": "amin", "Max": "amax"}


def scatter_in_place(
    variable: Variable,
    kind: str,
    indices: Any,
    updates: Any,
    slice_shape: tuple[int, ...] | None = None,
) -> None:
    """Scatters into a variable's tensor; call under its lock.

    Args:
      kind: "Update", "Add", "Sub", "Mul", "Div", "Min" or "Max".
      indices: flat and checked, [n].
      updates: a scalar, or n slices.
      slice_shape: the shape of what one index addresses; rows when None.
    """
    held = exclusive(variable)
    try:
        _scatter(held, kind, indices, updates, slice_shape)
    finally:
        variable.value = held


def _scatter(
    held: torch.Tensor,
    kind: str,
    indices: Any,
    updates: Any,
    slice_shape: tuple[int, ...] | None,
) -> None:
    if held.dtype in _STORED_ONLY:
        whole = held.numpy()
        if slice_shape is not None:
            whole = whole.reshape(-1, *slice_shape)
        host_scatter_ops.apply_numpy(kind, whole, to_host(indices), to_host(updates))
        return
    if slice_shape is None and kind in ("Add", "Sub") and updates.ndim == held.dim():
        # The common case, a sparse gradient, without a view and a copied index.
        add_rows(held, indices, updates, 1 if kind == "Add" else -1)
        return
    place = None if held.is_cpu else held.device
    update, index = to_tensor(updates, place), to_tensor(indices, place)
    if slice_shape is None:
        target, slice_shape = held, tuple(held.shape[1:])
    else:
        target = held.view(-1, *slice_shape)
    index = index.to(torch.int64)
    shape = (len(index), *slice_shape)
    update = update.reshape(shape) if update.dim() else update.expand(shape)
    if kind == "Update":
        target.index_copy_(0, index, update)
    elif kind in ("Add", "Sub"):
        add_rows(target, index, update, 1 if kind == "Add" else -1)
    elif kind == "Div":
        _divide(target, index, update)
    else:
        # Not index_reduce_, which warns that it is in beta.
        rows = index.reshape(-1, *[1] * len(slice_shape)).expand(shape)
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
