"""The lines of all tasks in one stream, each with its task's name."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.cluster.launch.job import Task

_COLOURS: Final = ("cyan", "green", "yellow", "magenta", "blue", "bright_red")


class TaskLog:
    """Writes lines to standard output, in the colour of their task.

    Args:
      tasks: who writes.
    """

    def __init__(self, tasks: Sequence[Task]) -> None:
        from rich.console import Console

        self._console = Console(highlight=False, markup=False, soft_wrap=True)
        self._colours = {
            task: _COLOURS[i % len(_COLOURS)] for i, task in enumerate(tasks)
        }
        self._mutex = threading.Lock()

    def write(self, task: Task, line: str) -> None:
        """Writes a line."""
        from rich.text import Text

        colour = self._colours.get(task, _COLOURS[0])
        text = Text.assemble((f"[{task.name}] ", colour), line.rstrip("\n"))
        with self._mutex:
            self._console.print(text)

    def close(self) -> None:
        """Nothing is written any more."""
        sys.stdout.flush()


def say(message: str) -> None:
    """What the launcher itself has to say."""
    print(f"tensorloom cluster: {message}", file=sys.stderr, flush=True)
