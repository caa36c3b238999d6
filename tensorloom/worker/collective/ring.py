"""Reductions and gatherings on a ring of members, as TensorFlow's tasks do them.

A value is divided into as many chunks as there are members. Each member sends a chunk
to the next one, which adds its own to it and sends the sum on. After `n - 1` steps each
member has one chunk's whole sum, and in as many more steps every chunk is everywhere.

Chunks are divided again: each part goes around a ring of its own, its *lane*, which may
have the devices of a task in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.collective.requests import MERGES, divided
from tensorloom.framework.devices.device_name import task_of
from tensorloom.framework.errors import invalid_argument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.framework.collective.requests import CollectiveRequest
    from tensorloom.worker.collective.exchange import Exchange

# TensorFlow's numbers, which both ends of a ring must know.
_LARGEST_CHUNK: Final = 4 * 1024 * 1024  # bytes; larger ones are divided again
_LANES_PER_DEVICE: Final = 2
#: Chunks begin at multiples of this, in bytes.
ALIGNMENT: Final = 64
# Between tasks of our own a part has about so many bytes: a sum is under way while the
# next part arrives.
_OWN_PART: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Field:
    """One part of a value: of which chunk, in which lane, and where."""

    number: int
    chunk: int
    lane: int
    start: int
    stop: int

    @property
    def count(self) -> int:
        return self.stop - self.start


def lanes_of(
    devices: Sequence[str], subdivisions: Sequence[int], total_bytes: int
) -> list[list[int]]:
    """The rings that TensorFlow makes: of each lane the ranks, one after the other.

    Args:
      devices: by rank, those of a task side by side.
      subdivisions: `subdiv_offsets` of the node; empty: as many as the size wants.
      total_bytes: of the value.
    """
    per_task: dict[str, list[int]] = {}
    for rank, device in enumerate(devices):
        per_task.setdefault(task_of(device), []).append(rank)
    offsets = list(subdivisions) or _offsets(
        len(devices), len(devices) // len(per_task), total_bytes
    )
    return [
        [rank for ranks in per_task.values() for rank in _rotated(ranks, offset)]
        for offset in offsets
    ]


def _offsets(size: int, per_task: int, total_bytes: int) -> list[int]:
    count = 1
    while (
        total_bytes // (size * count) > _LARGEST_CHUNK
        and count < _LANES_PER_DEVICE * per_task
    ):
        count += 1
    stride = per_task // count or 1
    return [stride * lane * (-1 if lane % 2 else 1) for lane in range(count)]


def _rotated(ranks: Sequence[int], offset: int) -> list[int]:
    """A task's ranks from an offset on; backwards if it is negative."""
    found = [ranks[(i + abs(offset)) % len(ranks)] for i in range(len(ranks))]
    if offset >= 0:
        return found
    mirrored = dict(zip(ranks, reversed(ranks), strict=True))
    return [mirrored[rank] for rank in found]


def own_lanes(size: int, total_bytes: int) -> list[list[int]]:
    """The rings between tasks of our own: large values go in several parts."""
    count = max(1, -(-total_bytes // (size * _OWN_PART)))
    return [list(range(size))] * count


def _fields(total: int, itemsize: int, size: int, lanes: int) -> list[_Field]:
    """The parts of a value; some at the end may be empty."""
    step = -(-total // (size * lanes))
    if itemsize < ALIGNMENT:
        # To the next multiple; from a multiple to the next one, too.
        step += (ALIGNMENT - step * itemsize % ALIGNMENT) // itemsize
    found = []
    for number in range(size * lanes):
        start = min(number * step, total)
        stop = min(start + step, total)
        found.append(_Field(number, number // lanes, number % lanes, start, stop))
    return found


class _Lane:
    """This member's place in a lane."""

    def __init__(self, ring: Sequence[int], rank: int) -> None:
        self.position = ring.index(rank)
        self.before = ring[self.position - 1]
        self.after = ring[(self.position + 1) % len(ring)]


def reduce(
    exchange: Exchange, request: CollectiveRequest, rings: Sequence[Sequence[int]]
) -> NDArray[Any]:
    """The members' values as one.

    Args:
      exchange: to the others.
      request: what this one brings.
      rings: of each lane the ranks; the same at all members.
    """
    assert request.value is not None
    value = np.ascontiguousarray(request.value).reshape(-1)
    size, dtype = exchange.size, value.dtype
    fields = _fields(value.size, dtype.itemsize, size, len(rings))
    of_chunk = [[f for f in fields if f.chunk == c and f.count] for c in range(size)]
    lanes = [_Lane(ring, exchange.rank) for ring in rings]
    _expect(exchange, lanes, fields, passes=2, dtype=dtype)
    merge = MERGES[request.merge]
    result = np.empty_like(value)

    def send(second: int, field: _Field, part: NDArray[Any]) -> None:
        lane = lanes[field.lane]
        name = f"{second}:{field.number}:{lane.position}"
        exchange.send(lane.after, name, part)

    def receive(second: int, field: _Field) -> NDArray[Any]:
        lane = lanes[field.lane]
        name = f"{second}:{field.number}:{(lane.position - 1) % size}"
        return exchange.recv(lane.before, name, field.count, dtype)

    # A lane that is another permutation has this member at another place.
    for field in fields:
        if field.count and field.chunk == lanes[field.lane].position:
            send(0, field, value[field.start : field.stop].copy())
    for step in range(size - 1):
        for field in _at(of_chunk, lanes, -step - 1):
            own = value[field.start : field.stop]
            merged = merge(own, receive(0, field))
            if step < size - 2:
                send(0, field, merged)
                continue
            whole = divided(merged, size) if request.divides else merged
            result[field.start : field.stop] = whole
            send(1, field, whole)
    for step in range(size - 1):
        for field in _at(of_chunk, lanes, -step):
            whole = receive(1, field)
            result[field.start : field.stop] = whole
            if step < size - 2:
                send(1, field, whole)
    return result.reshape(request.shape)


def _at(
    of_chunk: Sequence[Sequence[_Field]], lanes: Sequence[_Lane], distance: int
) -> list[_Field]:
    """The parts of the chunks that are so many places away, lane by lane."""
    size = len(of_chunk)
    return [
        field
        for number, lane in enumerate(lanes)
        for field in of_chunk[(lane.position + distance) % size]
        if field.lane == number
    ]


def gather(exchange: Exchange, request: CollectiveRequest) -> NDArray[Any]:
    """The members' values one after the other along dimension 0, by rank."""
    assert request.value is not None
    value = np.array(request.value, copy=True).reshape(-1)
    size, rank, dtype = exchange.size, exchange.rank, value.dtype
    after, before = (rank + 1) % size, (rank - 1) % size
    parts: dict[int, NDArray[Any]] = {rank: value}
    if value.size:
        wanted = [
            (f"0:{(rank - s - 1) % size}:{before}", value.size) for s in range(size - 1)
        ]
        exchange.expect(before, wanted, dtype)
        exchange.send(after, f"0:{rank}:{rank}", value)
        for step in range(size - 1):
            chunk = (rank - step - 1) % size
            part = exchange.recv(before, f"0:{chunk}:{before}", value.size, dtype)
            parts[chunk] = part
            if step < size - 2:
                exchange.send(after, f"0:{chunk}:{rank}", part)
    whole = np.concatenate([parts[chunk] for chunk in sorted(parts)])
    if not request.shape:
        raise invalid_argument("A value to be gathered must have rows, not be a scalar")
    return whole.reshape(request.shape[0] * size, *request.shape[1:])


def _expect(
    exchange: Exchange,
    lanes: Sequence[_Lane],
    fields: Sequence[_Field],
    passes: int,
    dtype: np.dtype[Any],
) -> None:
    """Asks for all pieces at once: who has one then sends it at once."""
    size = exchange.size
    wanted: dict[int, list[tuple[str, int]]] = {}
    for second in range(passes):
        for field in fields:
            lane = lanes[field.lane]
            # The chunk that begins here, or that is whole here, does not come.
            own = lane.position if second == 0 else (lane.position + 1) % size
            if field.count and field.chunk != own:
                name = f"{second}:{field.number}:{(lane.position - 1) % size}"
                wanted.setdefault(lane.before, []).append((name, field.count))
    for rank, pieces in wanted.items():
        exchange.expect(rank, pieces, dtype)
