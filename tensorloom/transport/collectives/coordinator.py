"""Decides in which order all processes of a group run their collectives.

Each process says which collectives it is ready for, in any order: graphs of different
processes need not run their nodes in the same one. The coordinator, a thread of process
0, calls for a collective when all are ready for it, so nobody waits in the one while
others wait in another. What became ready while one ran is called for together, and
allreduces of one kind travel as one buffer.

    process k -> coordinator   {"ready": [description, ...]}, {"leave": true}
    process 0 -> coordinator   {"done": true}: the last call was carried out
    coordinator -> all         {"run": [[name, sizes], ...]}, {"failed": {name: text}},
                               {"end": text}

This is Horovod's way (https://arxiv.org/abs/1802.05799), without its polling.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any, Final

#: A message has at most so many bytes.
LARGEST_MESSAGE: Final = 1 << 26
_AGREED: Final = ("kind", "dtype", "reduction", "root")


class Coordinator:
    """The decisions for one group; `run` makes them until the group ends."""

    def __init__(
        self,
        connections: Sequence[Connection],
        fusion_bytes: int,
        stalled_s: float,
        warn: Any,
    ) -> None:
        """Makes it; nothing runs yet.

        Args:
          connections: to each process, by rank.
          fusion_bytes: allreduces of so many bytes in all travel together.
          stalled_s: for how long some may wait for others before `warn` is told.
          warn: is called with a text.
        """
        self._connections = list(connections)
        self._ranks = {connection: rank for rank, connection in enumerate(connections)}
        self._fusion_bytes = fusion_bytes
        self._stalled_s = stalled_s
        self._warn = warn
        # By name: what each rank that is ready for it said of it, and since when.
        self._waiting: dict[str, dict[int, dict[str, Any]]] = {}
        self._since: dict[str, float] = {}
        self._warned: set[str] = set()
        self._ready: list[tuple[str, list[dict[str, Any]]]] = []
        self._is_busy = False

    def run(self) -> None:
        """Serves until a process leaves or is lost; the others are told why."""
        reason = None
        while reason is None:
            arrived = connection.wait(self._connections, timeout=self._stalled_s / 4)
            for source in arrived:
                assert isinstance(source, Connection)
                reason = self._take(source) or reason
            self._hand_out()
            self._look_for_stalls()
        self._tell({"end": reason})
        for source in self._connections:
            source.close()

    def _take(self, source: Connection) -> str | None:
        """Takes one message; why the group ends, if it does."""
        rank = self._ranks[source]
        try:
            message = json.loads(source.recv_bytes(LARGEST_MESSAGE))
        except (EOFError, OSError, ValueError):
            return (
                f"Horovod has been shut down: the process of rank {rank} ended, or "
                "lost its connection, while others were in the group"
            )
        if "leave" in message:
            return f"Horovod has been shut down by rank {rank}"
        if "done" in message:
            self._is_busy = False
        for description in message.get("ready", ()):
            self._note(rank, description)
        return None

    def _note(self, rank: int, description: dict[str, Any]) -> None:
        name = description["name"]
        found = self._waiting.setdefault(name, {})
        found[rank] = description
        self._since.setdefault(name, time.monotonic())
        if len(found) < len(self._connections):
            return
        del self._waiting[name], self._since[name]
        self._warned.discard(name)
        descriptions = [found[rank] for rank in range(len(found))]
        problem = disagreement(descriptions)
        if problem:
            self._tell({"failed": {name: problem}})
        else:
            self._ready.append((name, descriptions))

    def _hand_out(self) -> None:
        """Calls for what is ready, unless a call is under way."""
        if self._is_busy or not self._ready:
            return
        count = self._fused()
        batch, self._ready = self._ready[:count], self._ready[count:]
        self._is_busy = True
        run = [
            [name, [d["shape"][0] for d in of_all] if kind_gathers(of_all[0]) else []]
            for name, of_all in batch
        ]
        self._tell({"run": run})

    def _fused(self) -> int:
        """How many of the ready ones, from the first on, travel together."""
        first = self._ready[0][1][0]
        if first["kind"] != "allreduce":
            return 1
        total = 0
        for count, (_, (description, *_)) in enumerate(self._ready):
            total += description["bytes"]
            is_alike = all(description[key] == first[key] for key in _AGREED)
            if count and (total > self._fusion_bytes or not is_alike):
                return count
        return len(self._ready)

    def _look_for_stalls(self) -> None:
        now = time.monotonic()
        for name, since in self._since.items():
            if now - since < self._stalled_s or name in self._warned:
                continue
            self._warned.add(name)
            there = self._waiting[name]
            missing = sorted(set(range(len(self._connections))) - there.keys())
            kind = next(iter(there.values()))["kind"]
            self._warn(
                f"Some processes have waited for more than {self._stalled_s:.0f} "
                f"seconds in {kind} '{name}' for others that did not come. Missing "
                f"ranks: {missing}"
            )

    def _tell(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        for target in self._connections:
            try:
                target.send_bytes(data)
            except OSError:
                continue  # its end is found when it is read


def kind_gathers(description: dict[str, Any]) -> bool:
    """Whether each process may bring another number of rows."""
    return bool(description["kind"] == "allgather")


def disagreement(descriptions: Sequence[dict[str, Any]]) -> str:
    """Why processes cannot take part in one collective; "" if they can.

    Args:
      descriptions: what each says of its value, by rank.
    """
    first = descriptions[0]
    for rank, other in enumerate(descriptions):
        for key in _AGREED:
            if other[key] != first[key]:
                return (
                    f"Mismatched {key} in collective '{first['name']}': rank 0 has "
                    f"{first[key]}, rank {rank} has {other[key]}"
                )
        shapes = first["shape"], other["shape"]
        if kind_gathers(first):
            if not first["shape"] or not other["shape"]:
                return f"A value to be gathered by '{first['name']}' must have rows"
            shapes = shapes[0][1:], shapes[1][1:]
        if shapes[0] != shapes[1]:
            return (
                f"Mismatched {first['kind']} tensor shapes in '{first['name']}': rank "
                f"0 has {first['shape']}, rank {rank} has {other['shape']}"
            )
    root = first["root"]
    if not 0 <= root < len(descriptions):
        return (
            f"The root rank of broadcast '{first['name']}' is {root}, of "
            f"{len(descriptions)} processes"
        )
    return ""
