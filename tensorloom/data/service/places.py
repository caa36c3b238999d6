"""The places of a fixed list of workers, by which static policies divide datasets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from tensorloom.framework import errors

_ANY_PORT: Final = "%port%"


class Places:
    """Which worker has which place of the list.

    Args:
      addresses: "host:port", or "host" (or "host:%port%") for any port; none if there
        is no list, and so no places.
    """

    def __init__(self, addresses: Sequence[str]) -> None:
        self.addresses = tuple(addresses)
        #: The numbers of places by worker.
        self.of: dict[str, int] = {}

    def take(self, worker: str, address: str, there: Collection[str]) -> str | None:
        """Gives a worker its place: the one it had, or that of one that is gone.

        Args:
          worker: its name, another one after each start.
          address: where it is.
          there: the workers that are there.

        Returns:
          The worker whose place it was until now, if there is one.

        Raises:
          errors.FailedPreconditionError: the list has no place for it.
        """
        if not self.addresses or worker in self.of:
            return None
        host = address.rpartition(":")[0]
        for index, wanted in enumerate(self.addresses):
            is_its_own = wanted == address
            if not is_its_own and wanted not in (host, f"{host}:{_ANY_PORT}"):
                continue
            holder = next((w for w, at in self.of.items() if at == index), None)
            # Who listens at an address has taken it over from who did.
            if holder is None or is_its_own or holder not in there:
                if holder is not None:
                    del self.of[holder]
                self.of[worker] = index
                return holder
        raise errors.FailedPreconditionError(
            None,
            None,
            f"Failed to assign an index for worker {address}. Configured workers list: "
            f"[{', '.join(self.addresses)}]. The worker's address is not configured, "
            "or other workers are already running at the configured host. If your "
            "worker has restarted, make sure it runs at the same address and port.",
        )
