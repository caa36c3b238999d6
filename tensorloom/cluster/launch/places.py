"""Where tasks run: what a launcher knows of machines."""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorloom.cluster.launch.job import Task

# Takes a line that a task has printed.
OnLine = Callable[["Task", str], None]


@dataclass(frozen=True)
class End:
    """A task's process is gone."""

    task: Task
    # Of the process; negative: the signal that killed it; None: its machine is gone.
    status: int | None
    # For people.
    reason: str


def meaning(status: int) -> str:
    """A process's status in words."""
    if status >= 0:
        return f"exit status {status}"
    return f"killed by {signal.Signals(-status).name}"


class Places(ABC):
    """Runs tasks somewhere. One thread calls it."""

    @abstractmethod
    def open(self, on_line: OnLine) -> None:
        """Begins; lines of tasks go to `on_line`, from any thread."""

    @abstractmethod
    def place(self, task: Task) -> str:
        """Finds a place for the next life of a task; returns its address, `host:port`.

        Raises:
          errors.UnavailableError: there is none, or it was lost.
        """

    @abstractmethod
    def start(
        self, task: Task, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        """Starts a task where it was placed.

        Raises:
          errors.UnavailableError: the place was lost.
        """

    @abstractmethod
    def wait(self, timeout_s: float) -> list[End]:
        """The tasks that have ended since the last call; waits for one so long."""

    @abstractmethod
    def terminate(self, task: Task) -> None:
        """Asks a task to end."""

    @abstractmethod
    def kill(self, task: Task) -> None:
        """Ends a task."""

    @abstractmethod
    def close(self) -> None:
        """Ends what is left, and gives the places back."""
