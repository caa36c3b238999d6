"""A process's connection to a lock service, which renews what the process holds."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.coordination.connections import open_store
from tensorloom.coordination.records import Held, Signature
from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    import threading

    from tensorloom.coordination.barrier import Barrier
    from tensorloom.coordination.group import Group
    from tensorloom.coordination.lock import Lock
    from tensorloom.coordination.store import Store

#: The lock service of a job: see `docs/clusters.md`.
VARIABLE: Final = "TENSORLOOM_COORDINATION"
#: How long its leases are, in seconds.
LEASE_VARIABLE: Final = "TENSORLOOM_LEASE_S"
_DEFAULT_LEASE_S: Final = 10.0
# So often a lease is renewed before it ends.
_RENEWALS: Final = 3


def default_lease_s() -> float:
    """How long leases are.

    Raises:
      ValueError: the environment variable is no positive number.
    """
    lease_s = float(os.environ.get(LEASE_VARIABLE, _DEFAULT_LEASE_S))
    if not lease_s > 0:
        raise ValueError(f"{LEASE_VARIABLE}={lease_s:g}: a lease must take time")
    return lease_s


def open_coordinator(url: str, lease_s: float | None = None) -> Coordinator:
    """Connects to a lock service.

    Args:
      url: see `connections.open_store`.
      lease_s: how long a process that is dead, stopped or cut off keeps what it holds;
        TENSORLOOM_LEASE_S, or 10 s, if None.

    Raises:
      ValueError, ImportError, errors.UnavailableError: as `open_store`.
    """
    lease_s = default_lease_s() if lease_s is None else lease_s
    return Coordinator(open_store(url, lease_s, _member_name()))


class Coordinator:
    """Locks, groups and barriers of one lock service.

    Args:
      store: the service; it is closed with the coordinator.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._signature = Signature()
        self._held: dict[Held, None] = {}  # in order
        self._mutex = concurrency.Lock()
        self._wake = concurrency.Event()
        self._is_closed = False
        self._thread: threading.Thread | None = None
        # What is said with each lease that was lost, once.
        self._on_loss: dict[Held, Callable[[], None]] = {}

    def __enter__(self) -> Coordinator:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called, as it is when the process ends."""
        return self._is_closed

    def lock(self, name: str) -> Lock:
        """The lock of a name; also how one of several processes is elected."""
        from tensorloom.coordination.lock import Lock

        return Lock(self, name)

    def group(self, name: str) -> Group:
        """The group of a name, with its members."""
        from tensorloom.coordination.group import Group

        return Group(self, name)

    def barrier(self, name: str, parties: int) -> Barrier:
        """Where so many processes wait for each other."""
        from tensorloom.coordination.barrier import Barrier

        return Barrier(self, name, parties)

    def close(self) -> None:
        """Gives back what is held, and ends the connection."""
        with self._mutex:
            if self._is_closed:
                return
            self._is_closed = True
            held = list(self._held)
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        for one in held:
            # What cannot be given back ends with its lease.
            try:
                self.store.remove(one.lease)
            except errors.OpError:
                break
        for one in held:
            one.is_lost = True
        self._held.clear()
        self.store.close()

    # --- for locks, groups and barriers ----------------------------------------------

    def hold(
        self,
        key: str,
        content: dict[str, Any],
        fenced: bool = False,
        on_loss: Callable[[], None] | None = None,
    ) -> Held | None:
        """Makes a record and renews it from now on; None if there is one.

        Args:
          key: of the record.
          content: what it says, beside who made it and when.
          fenced: whether it gets a token.
          on_loss: called, in another thread, when it was lost.

        Raises:
          errors.FailedPreconditionError: the coordinator is closed.
          errors.UnavailableError: the service does not answer.
        """
        asked_at = concurrency.monotonic()
        lease = self.store.create(key, self._signature.sign(content), fenced)
        if lease is None:
            return None
        held = Held(lease, asked_at + self.store.lease_s)
        with self._mutex:
            if self._is_closed:
                raise errors.FailedPreconditionError(
                    None, None, f"The connection to {self.store.name} is closed"
                )
            self._held[held] = None
            if on_loss is not None:
                self._on_loss[held] = on_loss
            if self._thread is None:
                self._thread = concurrency.Thread(
                    target=self._renew_all, name="tensorloom-leases", daemon=True
                )
                self._thread.start()
        return held

    def give_back(self, held: Held) -> bool:
        """Removes a record; False if it was lost before."""
        with self._mutex:
            self._held.pop(held, None)
            self._on_loss.pop(held, None)
        held.is_lost = True
        return self.store.remove(held.lease)

    def poll_s(self) -> float:
        """How long to wait before a look at what others may have changed."""
        return min(0.25, self.store.lease_s / 10)

    def _renew_all(self) -> None:
        while not self._wake.wait(self.store.lease_s / _RENEWALS):
            with self._mutex:
                held = list(self._held)
            for one in held:
                self._renew(one)

    def _renew(self, held: Held) -> None:
        asked_at = concurrency.monotonic()
        try:
            if self.store.renew(held.lease):
                held.ends = asked_at + self.store.lease_s
                return
        except errors.UnavailableError:
            if held.lasts:
                return  # there is time to ask again
        with self._mutex:
            if held not in self._held:
                return  # it was given back meanwhile
            self._held.pop(held, None)
            on_loss = self._on_loss.pop(held, None)
        held.is_lost = True
        if on_loss is not None:
            on_loss()


def _member_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
