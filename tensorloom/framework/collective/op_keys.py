"""The next instance keys of collectives, as the tasks of a cluster count them.

The members of a collective meet by its key, so all tasks of a cluster must come to the
same ones. TensorFlow counts them by thread: replicas that are built side by side get
the same. That does as long as all processes have done the same before. But one may have
been in another cluster, and a task that takes part with it now may not. So each cluster
is counted alone, and anew once this process has stopped its server of the cluster: the
others of the next one are other processes, or have stopped theirs.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClusterPlace:
    """This process's place in a cluster.

    Args:
      address: where the task that it is listens, "" without a cluster.
      cluster: what tells clusters apart.
    """

    address: str = ""
    cluster: str = ""


class _Next(threading.local):
    """Of one thread: the next keys by place, and how often that was left."""

    def __init__(self) -> None:
        self.keys: dict[tuple[ClusterPlace, int], int] = {}


_next = _Next()
# How often this process has stopped a server, by its address.
_stops: dict[str, int] = {}


def new_key(place: ClusterPlace, first: int) -> int:
    """A new key; `first` if this thread has got none for the cluster."""
    known = place, _stops.get(place.address, 0)
    key = _next.keys.get(known, first)
    _next.keys[known] = key + 1
    return key


def leave(address: str) -> None:
    """A server of this process has stopped that listened at an address."""
    _stops[address] = _stops.get(address, 0) + 1
