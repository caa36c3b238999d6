"""What a lock service does for us: records with leases, and counters that only grow."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from tensorloom.framework import errors

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Store")


@dataclass(frozen=True)
class Lease:
    """A record that this process has made, and that goes if it is not renewed."""

    key: str
    value: bytes
    # Greater than that of each earlier record of the key; 0 for one without.
    token: int
    # What the store knows it by.
    handle: Any = None


class Store(ABC):
    """A lock service. Keys are `folder/name`; each process has a `Store` of its own.

    The fencing token of a record is given in the same atomic operation that makes it.
    It is *the newest* as long as no later record of its key was made, and a write that
    names it is refused afterwards.
    """

    #: Where it is, for messages; without passwords.
    name: str
    #: After how long a record goes that is not renewed.
    lease_s: float
    #: What the service's library raises when the service cannot be asked.
    failures: tuple[type[Exception], ...] = ()

    @abstractmethod
    def create(self, key: str, value: bytes, fenced: bool) -> Lease | None:
        """Makes a record; None when there is one.

        Args:
          key: of the record.
          value: what it says; no other process may make the same.
          fenced: whether it gets a token.
        """

    @abstractmethod
    def renew(self, lease: Lease) -> bool:
        """Puts the end of a lease off by `lease_s`; False when the record is gone."""

    @abstractmethod
    def remove(self, lease: Lease) -> bool:
        """Removes a record; False when it was gone, or is another's."""

    @abstractmethod
    def read(self, key: str) -> bytes | None:
        """The value of the record that there is now."""

    @abstractmethod
    def list(self, folder: str) -> dict[str, bytes]:
        """The records of a folder, by name."""

    @abstractmethod
    def is_newest(self, lease: Lease) -> bool:
        """Whether no token was given for the key since that of a lease."""

    @abstractmethod
    def keep(self, key: str, value: bytes, lease: Lease) -> bool:
        """Keeps a value for good, if the lease's token is the newest of its key."""

    @abstractmethod
    def kept(self, key: str) -> bytes | None:
        """What `keep` has kept."""

    @abstractmethod
    def close(self) -> None:
        """Ends the connection. Records stay until their leases end."""


def asked(
    method: Callable[Concatenate[S, P], R],
) -> Callable[Concatenate[S, P], R]:
    """A method that asks a service: what its library raises is `UnavailableError`."""

    @functools.wraps(method)
    def ask(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except self.failures as error:
            text = str(error) or type(error).__name__
            raise errors.UnavailableError(
                None, None, f"The lock service {self.name} cannot be asked: {text}"
            ) from error

    return cast("Callable[Concatenate[S, P], R]", ask)
