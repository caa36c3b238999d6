"""Where processes wait for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.coordination.records import safe
from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.coordination.coordinator import Coordinator
    from tensorloom.coordination.records import Held


class Barrier:
    """Opens when so many have come, and is then open for good.

    One that comes and dies before it opens does not count. A barrier is passed once:
    the next one has another name.

    Args:
      coordinator: the connection.
      name: of the barrier.
      parties: how many it waits for.

    Raises:
      ValueError: none.
    """

    def __init__(self, coordinator: Coordinator, name: str, parties: int) -> None:
        if parties < 1:
            raise ValueError(f"A barrier needs at least one party, not {parties}")
        self._coordinator = coordinator
        self._name = name
        self._folder = f"waiting at {safe(name)}"
        self._open = f"open barriers/{safe(name)}"
        self._parties = parties

    def wait(self, party: str, timeout_s: float | None = None) -> None:
        """Waits until all have come.

        Args:
          party: who comes; a name of its own.
          timeout_s: for how long; None: without an end.

        Raises:
          errors.DeadlineExceededError: they have not come; who has is in the message.
          errors.AlreadyExistsError: a party of that name waits already.
          errors.AbortedError: the lease ended while this process waited.
          errors.UnavailableError: the service does not answer.
        """
        if self._is_open():
            return
        held = self._coordinator.hold(f"{self._folder}/{safe(party)}", {}, fenced=True)
        if held is None:
            raise errors.AlreadyExistsError(
                None, None, f"{party!r} waits at the barrier {self._name!r} already"
            )
        try:
            self._wait(held, timeout_s)
        finally:
            self._coordinator.give_back(held)

    def _is_open(self) -> bool:
        return self._coordinator.store.kept(self._open) is not None

    def _wait(self, held: Held, timeout_s: float | None) -> None:
        store = self._coordinator.store
        deadline = None if timeout_s is None else concurrency.monotonic() + timeout_s
        while True:
            waiting = store.list(self._folder)
            # Who sees all of them says so for good: some go on and are gone before
            # others look.
            if len(waiting) >= self._parties:
                store.keep(self._open, b"open", held.lease)
            if self._is_open():
                return
            if held.is_lost:
                raise errors.AbortedError(
                    None, None, f"The lease at the barrier {self._name!r} has ended"
                )
            if deadline is not None and concurrency.monotonic() > deadline:
                raise errors.DeadlineExceededError(
                    None,
                    None,
                    f"After {timeout_s:g} s {len(waiting)} of {self._parties} have "
                    f"come to the barrier {self._name!r}: {sorted(waiting)}",
                )
            concurrency.sleep(self._coordinator.poll_s())
