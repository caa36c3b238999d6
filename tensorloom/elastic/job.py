"""What the processes of an elastic job know of each other, by the lock service."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.coordination import writers
from tensorloom.coordination.coordinator import VARIABLE, Coordinator
from tensorloom.coordination.records import safe
from tensorloom.elastic.plan import Plan
from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.coordination.records import Held

SERVERS: Final = "elastic servers"
LEAVING: Final = "elastic servers that leave"
WORKERS: Final = "elastic workers"
PAUSED: Final = "elastic workers that pause"
_LEADER: Final = "elastic leader"
PLAN: Final = "elastic plan"


class Presence:
    """A record of this process that others see as long as its lease lasts.

    Unlike a member of a group it is not made again by itself when it was lost: its
    owner has to find out first what has changed meanwhile.

    Args:
      coordinator: the connection.
      folder: of the record.
      name: its name; no other process has it.
      content: what others read.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        folder: str,
        name: str,
        content: Mapping[str, Any],
    ) -> None:
        self._coordinator = coordinator
        self._key = f"{folder}/{safe(name)}"
        self._content = {**content, "name": name}
        self._held: Held | None = None

    @property
    def lasts(self) -> bool:
        """Whether others still see it. Asks nobody."""
        return self._held is not None and self._held.lasts

    @property
    def held(self) -> Held | None:
        """The record: while this one lasts, others see it without a gap."""
        return self._held

    def take(self) -> bool:
        """Makes the record; False while an earlier one of this process is there.

        Raises:
          errors.UnavailableError: the service does not answer.
        """
        if not self.lasts:
            # The service may have it still, and renew it: the new one is not made then.
            self.give_back()
            self._held = self._coordinator.hold(self._key, self._content)
        return self._held is not None

    def give_back(self) -> None:
        """Removes the record, if it is there.

        Raises:
          errors.UnavailableError: the service does not answer; the lease ends there.
        """
        held, self._held = self._held, None
        if held is not None:
            self._coordinator.give_back(held)


@dataclass(frozen=True)
class ServerRecord:
    """What a server says of itself."""

    index: int  # of its task
    life: str  # of its process
    address: str  # host:port
    since: float  # `time.time()` there


class Job:
    """The lock service of an elastic job, which no other job uses in its namespace.

    Args:
      coordinator: the connection; that of TENSORLOOM_COORDINATION when None.

    Raises:
      ValueError: there is none.
      errors.UnavailableError: the service does not answer.
    """

    def __init__(self, coordinator: Coordinator | None = None) -> None:
        coordinator = coordinator or writers.job_coordinator()
        if coordinator is None:
            raise ValueError(
                "An elastic job needs a lock service: pass a coordinator, or set "
                f"{VARIABLE}, for one machine to file:///a/directory"
            )
        self.coordinator = coordinator
        self.lock = coordinator.lock(_LEADER)

    @property
    def lease_s(self) -> float:
        """How long the records of a process that is gone are there."""
        return self.coordinator.store.lease_s

    def presence(self, folder: str, name: str, content: Mapping[str, Any]) -> Presence:
        """A record of this process; it is not made yet."""
        return Presence(self.coordinator, folder, name, content)

    def plan(self) -> Plan | None:
        """The newest plan; None before the first one."""
        kept = self.lock.kept(PLAN)
        return None if kept is None else Plan.from_json(kept)

    def publish(self, plan: Plan) -> None:
        """Makes a plan the newest one, as the leader.

        Raises:
          errors.AbortedError: another process leads by now; nothing is changed.
        """
        self.lock.keep(PLAN, plan.to_json())

    def servers(self) -> dict[int, ServerRecord]:
        """The servers that are there by index; of two lives the later one."""
        found: dict[int, ServerRecord] = {}
        for one in self._list(SERVERS).values():
            record = ServerRecord(
                one["index"], one["life"], one["address"], one["began"]
            )
            known = found.get(record.index)
            if known is None or known.since < record.since:
                found[record.index] = record
        return found

    def leaving(self) -> set[str]:
        """The lives of the servers that want to leave."""
        return {one["life"] for one in self._list(LEAVING).values()}

    def workers(self) -> dict[str, dict[str, Any]]:
        """What the workers say that are there, by name."""
        return self._list(WORKERS)

    def worker_numbers(self) -> set[int]:
        """The numbers of the workers that are there; see `worker_number`."""
        return {worker_number(one["task"]) for one in self.workers().values()}

    def paused(self, version: int) -> set[str]:
        """The names of the workers that pause for a version of the plan."""
        found = self._list(PAUSED).values()
        return {one["worker"] for one in found if one["version"] == version}

    def _list(self, folder: str) -> dict[str, dict[str, Any]]:
        found = map(json.loads, self.coordinator.store.list(folder).values())
        return {one["name"]: one for one in found}


def worker_number(task: str) -> int:
    """A worker's place among all: the chief's is 0, then those of the job `worker`."""
    spec = DeviceSpec.from_string(task)
    return int(spec.task or 0) + int(spec.job == "worker")


def now() -> float:
    """When a life began, for others to compare."""
    return concurrency.time()


def new_life() -> str:
    """The name of a life: no other process has it, nor this one in another life."""
    return f"{concurrency.randbits(128):032x}"
