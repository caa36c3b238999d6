"""Broadcasts along binary trees, as TensorFlow's tasks do them.

First one device of each task gets the value, then those get it that are beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.devices.device_name import task_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.framework.collective.requests import CollectiveRequest
    from tensorloom.worker.collective.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Tree:
    """Some of the members, one of which has the value."""

    number: int
    ranks: tuple[int, ...]  # in the group
    source: int  # the place of the one that has the value


def trees_of(devices: Sequence[str], source: int) -> list[Tree]:
    """The trees of a broadcast, in the order in which a member is in them.

    Args:
      devices: by rank, those of a task side by side.
      source: the rank of the member that sends.
    """
    per_task: dict[str, list[int]] = {}
    for rank, device in enumerate(devices):
        per_task.setdefault(task_of(device), []).append(rank)
    first = [source if source in ranks else ranks[0] for ranks in per_task.values()]
    between = [Tree(0, tuple(first), first.index(source))] if len(first) > 1 else []
    within = [
        Tree(
            number + len(between),
            tuple(ranks),
            ranks.index(source) if source in ranks else 0,
        )
        for number, ranks in enumerate(per_task.values())
    ]
    return [*between, *within]


def parent(tree: Tree, place: int) -> int:
    """The place that the one at `place` gets the value from."""
    if tree.source == 0:
        return (place - 1) // 2
    # The source is as if before all others, and stays at its place besides.
    above = place // 2 - 1 if place >= 2 else -1
    return tree.source if above < 0 else above


def children(tree: Tree, place: int) -> list[int]:
    """The places that the one at `place` sends the value to."""
    return [
        other
        for other in range(len(tree.ranks))
        if other != tree.source and parent(tree, other) == place
    ]


def broadcast(
    exchange: Exchange, request: CollectiveRequest, source: int
) -> NDArray[Any]:
    """The value of the member of rank `source`."""
    count = int(np.prod(request.shape))
    value: NDArray[Any] | None = None
    if exchange.rank == source:
        # What was sent may be taken when the step has other uses for the memory.
        value = np.array(request.value, dtype=request.dtype, copy=True).reshape(-1)
    for tree in trees_of(exchange.devices, source):
        if exchange.rank not in tree.ranks:
            continue
        place = tree.ranks.index(exchange.rank)
        if place != tree.source:
            above = parent(tree, place)
            name = f"{tree.number}:{above}:{place}"
            rank = tree.ranks[above]
            exchange.expect(rank, [(name, count)], request.dtype)
            value = exchange.recv(rank, name, count, request.dtype)
        assert value is not None
        for below in children(tree, place):
            name = f"{tree.number}:{place}:{below}"
            exchange.send(tree.ranks[below], name, value)
    assert value is not None
    return value.reshape(request.shape)
