"""Child processes that end with their parent, however that one ends."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def children_die_with_us() -> Callable[[], None] | None:
    """What a child runs before its program; None where the system has no such thing.

    The thread that starts the child must live as long as the process.
    """
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    parent = os.getpid()

    def prepare() -> None:
        library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


def started_child(
    command: Sequence[str], environment: Mapping[str, str], folder: str | None = None
) -> subprocess.Popen[str]:
    """A process whose lines, of both its streams, are read from `stdout`.

    Args:
      command: what runs.
      environment: variables beside this process's own.
      folder: where it runs; by default, where this process does.
    """
    return subprocess.Popen(
        command,
        env={**os.environ, **environment},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # Ctrl-C is for us; we stop them.
        start_new_session=True,
        preexec_fn=children_die_with_us(),
    )
