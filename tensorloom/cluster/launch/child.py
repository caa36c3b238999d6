"""Child processes that end with their parent, however that one ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
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
