"""Members of a group, which say something of themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.coordination.records import safe
from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.coordination.coordinator import Coordinator
    from tensorloom.coordination.records import Held


class Group:
    """Processes that join and leave; one that is dead is none a lease later.

    Args:
      coordinator: the connection.
      name: of the group.
    """

    def __init__(self, coordinator: Coordinator, name: str) -> None:
        self._coordinator = coordinator
        self._folder = f"members of {safe(name)}"
        self._name = name
        self._held: dict[str, Held] = {}
        self._mutex = concurrency.Lock()

    def join(self, member: str, metadata: Mapping[str, Any]) -> None:
        """Joins; after a loss of the connection, again, by itself.

        Args:
          member: a name that no other member has now.
          metadata: what others see, anything that JSON has.

        Raises:
          errors.AlreadyExistsError: there is such a member.
          errors.UnavailableError: the service does not answer.
        """
        if not self._join(member, dict(metadata)):
            raise errors.AlreadyExistsError(
                None,
                None,
                f"{member!r} is a member of {self._name!r} already: "
                f"{self.members().get(member)}",
            )

    def wait_to_join(
        self, member: str, metadata: Mapping[str, Any], timeout_s: float
    ) -> None:
        """Joins once an earlier process of that name has left, or lost its lease.

        Raises:
          errors.AlreadyExistsError: it has not, after `timeout_s`.
          errors.UnavailableError: the service does not answer.
        """
        deadline = concurrency.monotonic() + timeout_s
        while not self._join(member, dict(metadata)):
            if concurrency.monotonic() > deadline:
                self.join(member, metadata)
                return
            concurrency.sleep(self._coordinator.poll_s())

    def leave(self, member: str) -> None:
        """Leaves; does nothing for who is no member of this process.

        Raises:
          errors.UnavailableError: the service does not answer; the lease ends there.
        """
        with self._mutex:
            held = self._held.pop(member, None)
        if held is not None:
            self._coordinator.give_back(held)

    def members(self) -> dict[str, dict[str, Any]]:
        """The metadata of all, with `host`, `pid` and `since`, by member.

        Raises:
          errors.UnavailableError: the service does not answer.
        """
        records = self._coordinator.store.list(self._folder)
        found = [json.loads(value) for value in records.values()]
        return {
            one["member"]: {k: v for k, v in one.items() if k not in ("member", "id")}
            for one in found
        }

    def wait_for(
        self,
        condition: Callable[[dict[str, dict[str, Any]]], bool],
        timeout_s: float | None = None,
    ) -> dict[str, dict[str, Any]]:
        """Waits until the members are as wanted; returns them.

        Raises:
          errors.DeadlineExceededError: they are not, after `timeout_s`.
          errors.UnavailableError: the service does not answer.
        """
        deadline = None if timeout_s is None else concurrency.monotonic() + timeout_s
        while not condition(members := self.members()):
            if deadline is not None and concurrency.monotonic() > deadline:
                raise errors.DeadlineExceededError(
                    None,
                    None,
                    f"After {timeout_s:g} s the group {self._name!r} has the members "
                    f"{sorted(members)}",
                )
            concurrency.sleep(self._coordinator.poll_s())
        return members

    def _join(self, member: str, metadata: dict[str, Any]) -> bool:
        def rejoin() -> None:
            with self._mutex:
                if self._held.pop(member, None) is None:
                    return  # it has left
            concurrency.Thread(
                target=self._rejoin, args=(member, metadata), daemon=True
            ).start()

        key = f"{self._folder}/{safe(member)}"
        content = {**metadata, "member": member}
        held = self._coordinator.hold(key, content, on_loss=rejoin)
        if held is None:
            return False
        with self._mutex:
            self._held[member] = held
        return True

    def _rejoin(self, member: str, metadata: dict[str, Any]) -> None:
        """Joins again when the service is back, unless another has come instead."""
        while True:
            try:
                self._join(member, metadata)
                return
            except errors.UnavailableError:
                concurrency.sleep(self._coordinator.store.lease_s / 3)
            except errors.FailedPreconditionError:
                return  # the connection was closed
