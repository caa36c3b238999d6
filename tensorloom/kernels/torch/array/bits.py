"""Moving elements whose dtype torch can only store.

torch has no indexing functions for uint16, uint32 and uint64. Moving elements about
needs only their bits, so it is done on the signed dtype of the same width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIGNED = {
    torch.uint16: torch.int16,
    torch.uint32: torch.int32,
    torch.uint64: torch.int64,
}


def as_signed(value: torch.Tensor) -> torch.Tensor:
    """The same bits as a dtype for which torch has indexing functions."""
    signed = _SIGNED.get(value.dtype)
    return value if signed is None else value.view(signed)


def as_numpy(value: torch.Tensor) -> NDArray[Any]:
    """The memory of a tensor on a CPU; that of bfloat16 as int16."""
    bits = value.view(torch.int16) if value.dtype is torch.bfloat16 else value
    array: NDArray[Any] = bits.numpy()
    return array


def move_bits(
    value: torch.Tensor, move: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """`move(value)`, for a function that moves elements and computes nothing."""
    signed = _SIGNED.get(value.dtype)
    if signed is None:
        return move(value)
    return move(value.view(signed)).view(value.dtype)
