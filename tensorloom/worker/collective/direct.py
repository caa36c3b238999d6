"""Small values between tasks of our own: each member sends its value to all others.

That is one step instead of the ring's 2(n - 1).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.collective.requests import GATHERING, MERGES, divided

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.framework.collective.requests import CollectiveRequest
    from tensorloom.worker.collective.exchange import Exchange

# The most bytes that a member sends in all.
_LARGEST: Final = 256 * 1024


def is_small(request: CollectiveRequest) -> bool:
    """Whether a value is small enough to go to every member."""
    assert request.value is not None
    return request.value.nbytes * request.group_size <= _LARGEST


def combine(exchange: Exchange, request: CollectiveRequest) -> NDArray[Any]:
    """The reduction of the members' values, or their rows one after the other.

    Every member combines them in the order of the ranks: all get the same bits.
    """
    value = np.array(request.value, copy=True)
    others = [rank for rank in range(exchange.size) if rank != exchange.rank]
    for rank in others:
        piece = (f"all:{rank}", value.size)
        exchange.expect(rank, [piece], value.dtype)
    for rank in others:
        exchange.send(rank, f"all:{exchange.rank}", value.reshape(-1))
    values = [value] * exchange.size
    for rank in others:
        part = exchange.recv(rank, f"all:{rank}", value.size, value.dtype)
        values[rank] = part.reshape(value.shape)
    if request.kind == GATHERING:
        return np.concatenate(values)
    merged = functools.reduce(MERGES[request.merge], values)
    whole = divided(merged, exchange.size) if request.divides else merged
    return np.asarray(whole).astype(value.dtype, copy=False).reshape(value.shape)
