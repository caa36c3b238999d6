"""Small values between tasks of our own: each member sends its value to all others.

That is one step instead of the ring's 2(n - 1).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.collective.requests import GATHERING, MERGES, divided
from tensorloom.framework.errors import invalid_argument

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


def check_sizes(exchange: Exchange, request: CollectiveRequest) -> None:
    """Compares how much each member brings, where values go in other ways.

    The ways depend on the size, so members that disagree would wait for each other for
    ever. What is told here goes by the names of small values, so that a member with a
    small one finds the disagreement as well.

    Raises:
      errors.InvalidArgumentError: a member brings another number of values.
    """
    assert request.value is not None
    size = np.frombuffer(np.int64(request.value.size).tobytes(), np.uint8)
    for told in _from_others(exchange, request, size).values():
        if not np.array_equal(told, size):
            raise _mismatch(exchange, request)


def _mismatch(exchange: Exchange, request: CollectiveRequest) -> errors.OpError:
    return invalid_argument(
        f"Shape mismatch in the collective instance {request.instance_key}: "
        f"{exchange.devices[exchange.rank]} brings {request.shape}, and another member "
        "another number of values"
    )


def _from_others(
    exchange: Exchange, request: CollectiveRequest, value: NDArray[Any]
) -> dict[int, NDArray[Any]]:
    """What the others send, by rank; each gets this member's."""
    others = [rank for rank in range(exchange.size) if rank != exchange.rank]
    for rank in others:
        exchange.expect(rank, [(f"all:{rank}", value.size)], value.dtype)
    for rank in others:
        exchange.send(rank, f"all:{exchange.rank}", value.reshape(-1))
    try:
        return {
            rank: exchange.recv(rank, f"all:{rank}", value.size, value.dtype)
            for rank in others
        }
    except errors.InvalidArgumentError:  # one has a small value, another a large one
        raise _mismatch(exchange, request) from None


def combine(exchange: Exchange, request: CollectiveRequest) -> NDArray[Any]:
    """The reduction of the members' values, or their rows one after the other.

    Every member combines them in the order of the ranks: all get the same bits.
    """
    value = np.array(request.value, copy=True)
    values = [value] * exchange.size
    for rank, part in _from_others(exchange, request, value).items():
        values[rank] = part.reshape(value.shape)
    if request.kind == GATHERING:
        return np.concatenate(values)
    merged = functools.reduce(MERGES[request.merge], values)
    whole = divided(merged, exchange.size) if request.divides else merged
    return np.asarray(whole).astype(value.dtype, copy=False).reshape(value.shape)
