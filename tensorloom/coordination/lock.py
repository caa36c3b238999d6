"""A lock with a lease and a fencing token."""

from __future__ import annotations

import json
import os
import socket
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.coordination.records import safe
from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    import threading

    from tensorloom.coordination.coordinator import Coordinator
    from tensorloom.coordination.records import Held


@dataclass(frozen=True)
class Holder:
    """Who has a lock."""

    host: str
    pid: int
    since: float  # `time.time()` there
    note: str  # what it said of itself

    def __str__(self) -> str:
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since))
        note = f" ({self.note})" if self.note else ""
        return f"process {self.pid} on {self.host}{note}, since {at}"


class Lock:
    """One process at a time has it; one that is dead, stopped or cut off loses it.

    Each time it is taken it has a greater `token`. Who keeps something under the lock
    refuses what comes with a smaller one: a process that was stopped, woke up and does
    not know yet that its lease has ended changes nothing.

    Args:
      coordinator: the connection.
      name: of the lock.
    """

    def __init__(self, coordinator: Coordinator, name: str) -> None:
        self.name = name
        self._coordinator = coordinator
        self._key = f"locks/{safe(name)}"
        self._held: Held | None = None
        self._note, self._since = "", 0.0
        # While it waits: since when, and for whom as far as it knows.
        self._waits: tuple[float, Holder | None] | None = None

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()

    def acquire(
        self,
        timeout_s: float | None = None,
        note: str = "",
        on_wait: Callable[[Holder], None] | None = None,
        stop: threading.Event | None = None,
    ) -> bool:
        """Takes the lock, and waits for it if another has it.

        Args:
          timeout_s: how long to wait; 0: not at all, None: without an end.
          note: what others read of the holder.
          on_wait: called with the holder when the wait begins, and for each new one.
          stop: when it is set, the wait ends.

        Returns:
          Whether this process has it.

        Raises:
          errors.FailedPreconditionError: this object has it already.
          errors.UnavailableError: the service does not answer.
        """
        if self._held is not None and self._held.lasts:
            raise errors.FailedPreconditionError(
                None, None, f"The lock {self.name!r} is held already"
            )
        _asked_for.add(self)
        try:
            # A lease that seems to have ended may be there still, and be renewed: then
            # nobody would get the lock, nor would this process know that it has it.
            self.release()
            return self._acquire(timeout_s, note, on_wait, stop)
        finally:
            self._waits = None

    def _acquire(
        self,
        timeout_s: float | None,
        note: str,
        on_wait: Callable[[Holder], None] | None,
        stop: threading.Event | None,
    ) -> bool:
        began = concurrency.monotonic()
        deadline = None if timeout_s is None else began + timeout_s
        told: Holder | None = None
        while True:
            self._held = self._coordinator.hold(self._key, {"note": note}, fenced=True)
            if self._held is not None:
                self._note, self._since = note, concurrency.time()
                return True
            holder = self.holder()
            self._waits = began, holder
            if on_wait is not None and holder is not None and holder != told:
                on_wait(holder)
                told = holder
            stop = stop or concurrency.Event()
            pause = self._coordinator.poll_s()
            if deadline is not None:
                pause = min(pause, deadline - concurrency.monotonic())
            if pause <= 0 or stop.wait(pause):
                return False

    def release(self) -> bool:
        """Gives the lock back; False if it was lost before.

        Raises:
          errors.UnavailableError: the service does not answer; the lease ends there.
        """
        held, self._held = self._held, None
        return held is not None and self._coordinator.give_back(held)

    @property
    def is_held(self) -> bool:
        """Whether nobody else can have it yet. Asks nobody."""
        return self._held is not None and self._held.lasts

    @property
    def token(self) -> int:
        """The fencing token, greater than those of all earlier holders.

        Raises:
          errors.FailedPreconditionError: the lock was not taken.
        """
        return self._taken().lease.token

    def facts(self) -> dict[str, Any] | None:
        """Who has it and waits for it, as this process knows; None: it does neither.

        Asks nobody. Ages are in seconds.
        """
        waits = self._waits
        holder = None if waits is None else waits[1]
        me = Holder(socket.gethostname(), os.getpid(), self._since, self._note)
        if self.is_held:
            holder = me
        elif waits is None:
            return None
        waiting = {"process": f"process {me.pid} on {me.host}"}
        return {
            "name": self.name,
            "container": self._coordinator.store.name,
            "kind": "lock service",
            "holder": holder
            and {
                "process": str(holder),
                "for_s": max(0.0, concurrency.time() - holder.since),
            },
            "waiting": []
            if waits is None
            else [{**waiting, "for_s": concurrency.monotonic() - waits[0]}],
        }

    def holder(self) -> Holder | None:
        """Who has it now."""
        value = self._coordinator.store.read(self._key)
        if value is None:
            return None
        found = json.loads(value)
        return Holder(found["host"], found["pid"], found["since"], found["note"])

    def check(self) -> None:
        """Asks the service whether nobody has taken the lock since.

        Raises:
          errors.AbortedError: somebody has, or the lease has ended.
          errors.UnavailableError: the service does not answer.
        """
        held = self._taken()
        if not held.lasts or not self._coordinator.store.is_newest(held.lease):
            raise self.lost()

    def keep(self, name: str, value: Any) -> None:
        """Keeps a value in the service, unless somebody has taken the lock since.

        Args:
          name: the value's.
          value: anything that JSON has.

        Raises:
          errors.AbortedError: somebody has; nothing is changed.
          errors.UnavailableError: the service does not answer.
        """
        content = json.dumps(value).encode()
        lease = self._taken().lease
        if not self._coordinator.store.keep(f"values/{safe(name)}", content, lease):
            raise self.lost()

    def kept(self, name: str) -> Any:
        """What a holder has kept; None if nobody has."""
        content = self._coordinator.store.kept(f"values/{safe(name)}")
        return None if content is None else json.loads(content)

    def lost(self) -> errors.AbortedError:
        """The error that says who has the lock now."""
        try:
            holder = self.holder()
        except errors.UnavailableError:
            holder = None
        has = f"{holder} has it" if holder else "nobody has it now"
        return errors.AbortedError(
            None,
            None,
            f"The lock {self.name!r} was lost: this process did not renew it for "
            f"{self._coordinator.store.lease_s:g} s; {has}",
        )

    def _taken(self) -> Held:
        if self._held is None:
            raise errors.FailedPreconditionError(
                None, None, f"The lock {self.name!r} was not taken"
            )
        return self._held


_asked_for: weakref.WeakSet[Lock] = weakref.WeakSet()


def locks_of_this_process() -> list[dict[str, Any]]:
    """The locks that this process has or waits for; see `Lock.facts`."""
    facts = [lock.facts() for lock in list(_asked_for)]
    return [found for found in facts if found is not None]
