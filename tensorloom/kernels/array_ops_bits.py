"""Moving elements whose dtype torch can only store.

torch has no indexing functions for uint16, uint32 and uint64. Moving elements about
needs only their bits, so it is done on the signed dtype of the same width.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

_SIGNED = {
    torch.uint16: torch.int16,
    torch.uint32: torch.int32,
    torch.uint64: torch.int64,
}


def as_signed(value: torch.Tensor) -> torch.Tensor:
    """The same bits as a dtype for which torch has indexing functions."""
    signed = _SIGNED.get(value.dtype)
    return value if signed is None else value.view(signed)


def move_bits(
    value: torch.Tensor, move: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """`move(value)`, for a function that moves elements and computes nothing."""
    signed = _SIGNED.get(value.dtype)
    if signed is None:
        return move(value)
    return move(value.view(signed)).view(value.dtype)
