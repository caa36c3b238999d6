"""The plan of a job: which life of which server has each shard, by version.

The leader alone publishes plans, under a lock whose token fences off an earlier one.
A plan that is not ready asks the workers to pause; the next ready one lets them go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Home:
    """Where a shard is."""

    server: int  # the index of its task
    life: str  # of that task's process: a process started again has another
    #: The plan's version that put it there. It is part of the container's name, so
    #: what an earlier home still holds is never taken for the shard.
    epoch: int


@dataclass(frozen=True)
class Plan:
    """A version of the plan."""

    version: int
    is_ready: bool
    homes: Mapping[int, Home]  # by shard
    addresses: Mapping[int, str] = field(default_factory=dict)  # of their servers

    def to_json(self) -> dict[str, Any]:
        """What the lock service keeps."""
        return {
            "version": self.version,
            "is_ready": self.is_ready,
            "homes": {
                str(shard): [home.server, home.life, home.epoch]
                for shard, home in self.homes.items()
            },
            "addresses": {str(k): v for k, v in self.addresses.items()},
        }

    @staticmethod
    def from_json(kept: Mapping[str, Any]) -> Plan:
        """What `to_json` has made."""
        return Plan(
            int(kept["version"]),
            bool(kept["is_ready"]),
            {int(shard): Home(*home) for shard, home in kept["homes"].items()},
            {int(server): str(a) for server, a in kept["addresses"].items()},
        )

    def containers_of(self, server: int, life: str) -> set[str]:
        """The containers that a server has."""
        return {
            container(shard, home.epoch)
            for shard, home in self.homes.items()
            if (home.server, home.life) == (server, life)
        }


_PREFIX = "elastic."


def container(shard: int, epoch: int) -> str:
    """The container of a shard at one of its homes."""
    return f"{_PREFIX}{shard}.{epoch}"


def epoch_of(name: str) -> int | None:
    """The epoch in the name of a container; None if it is no shard's."""
    parts = name.removeprefix(_PREFIX).split(".")
    if not name.startswith(_PREFIX) or len(parts) != 2:
        return None
    return int(parts[1]) if parts[0].isdigit() and parts[1].isdigit() else None
