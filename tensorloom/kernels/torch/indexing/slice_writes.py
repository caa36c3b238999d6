"""Writing to the part of a tensor that a strided slice takes.

torch has no negative steps: such an axis is taken forwards and flipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tensorloom.kernels.host.indexing.slice import update_value
from tensorloom.kernels.torch.array.bits import move_bits
from tensorloom.kernels.torch.state.variable_value import to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.types.strided_slice import ResolvedSlice


def forward_index(resolved: ResolvedSlice) -> tuple[tuple[slice, ...], list[int]]:
    """(index with positive steps, axes to flip afterwards)."""
    index = []
    flipped = []
    for number, axis in enumerate(resolved.axes):
        part = axis.as_slice()
        if part.step < 0:
            flipped.append(number)
            assert axis.begin is not None
            assert axis.size is not None
            last = axis.begin + (axis.size - 1) * axis.stride
            part = slice(last, axis.begin + 1, -axis.stride)
        index.append(part)
    return tuple(index), flipped


def put(target: torch.Tensor, value: torch.Tensor, resolved: ResolvedSlice) -> None:
    """Writes a value that has the slice's processing shape."""
    index, flipped = forward_index(resolved)
    if flipped:
        value = move_bits(value, lambda v: v.flip(flipped))
    target[index] = value


def assign_slice(target: torch.Tensor, value: Any, resolved: ResolvedSlice) -> None:
    """Writes a value to a part of a tensor that is the caller's own."""
    new = update_value(torch, to_tensor(value, target.device), resolved)
    put(target, new, resolved)
