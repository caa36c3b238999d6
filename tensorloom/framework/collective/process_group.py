"""The group of processes whose collectives this process takes part in.

A program joins one (`tensorloom.hvd.init`); kernels find it here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.framework.runtime.cancellation import CancellationManager

# How an allreduce combines the values of all processes, by Horovod's numbers.
SUM: Final = 1
ADASUM: Final = 2


@dataclass(frozen=True, slots=True)
class Request:
    """What one process brings to a collective."""

    name: str  # the same in all processes, and of one collective at a time
    kind: str  # "allreduce", "allgather" or "broadcast"
    value: NDArray[Any]
    reduction: int = SUM
    root: int = 0  # whose value a broadcast gives


class Pending:
    """The result of a collective that is not there yet."""

    def __init__(self) -> None:
        self._ended = concurrency.Event()
        self._value: Any = None
        self._error: Exception | None = None

    def resolve(self, value: Any) -> None:
        """Gives the result."""
        self._value = value
        self._ended.set()

    def fail(self, error: Exception) -> None:
        """Makes `result` raise."""
        self._error = error
        self._ended.set()

    def result(self, cancellation: CancellationManager) -> Any:
        """Waits for the result, but no longer than the step runs.

        Raises:
          errors.OpError: the collective failed, or the step was cancelled.
        """
        if not self._ended.is_set():
            token = cancellation.register(self._ended.set)
            try:
                if token is not None:
                    self._ended.wait()
            finally:
                if token is not None:
                    cancellation.deregister(token)
            if self._error is None and self._value is None:
                cancellation.check()
        if self._error is not None:
            raise self._error
        return self._value


class ProcessGroup(Protocol):
    """This process's place in a group, and its way to the others."""

    @property
    def rank(self) -> int:
        """This process's number, from 0 on."""

    @property
    def size(self) -> int:
        """How many processes there are."""

    @property
    def local_rank(self) -> int:
        """This process's number among those on its machine."""

    @property
    def local_size(self) -> int:
        """How many of them are on its machine."""

    def submit(self, request: Request) -> Pending:
        """Takes part in a collective; never waits for the others."""

    def close(self) -> None:
        """Leaves the group; what is pending fails."""


_current: ProcessGroup | None = None


def set_current(group: ProcessGroup | None) -> None:
    """Makes a group the process's own; None: it is in none."""
    global _current
    _current = group


def is_current() -> bool:
    """Whether the process is in a group."""
    return _current is not None


def current() -> ProcessGroup:
    """The process's group.

    Raises:
      errors.FailedPreconditionError: it is in none.
    """
    if _current is None:
        raise errors.FailedPreconditionError(
            None, None, "Horovod has not been initialized; use hvd.init()."
        )
    return _current
