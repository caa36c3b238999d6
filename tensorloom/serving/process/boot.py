"""The first code of a model's process: run as a file, before the package is imported.

Importing and loading are done by a thread of low priority, so that the requests of
other models do not notice; threads that serve have the usual priority. A process that
was made nicer could not go back, and a thread can be made so alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
# As `manager/low_priority.py`, which is not imported here.
_NICENESS: Final = 10
# Of -1000 to 1000: when memory is short, a model is ended before the server.
_OOM_SCORE: Final = "500"


def main() -> None:
    """Serves the task on standard input until that ends."""
    os.dup2(2, 1)  # what a model prints is no output of the server's
    _follow_server()
    line = sys.stdin.buffer.readline()
    threading.Thread(target=_load, args=(line,), daemon=True).start()
    # Nothing more comes but the end.
    sys.stdin.buffer.read()
    os._exit(0)


def _load(line: bytes) -> None:
    # The starting thread is as it was: those that it starts serve at its priority.
    ready = threading.Event()
    serving = threading.Thread(target=_serve, args=(ready,), daemon=True)
    serving.start()
    if hasattr(os, "sched_getscheduler"):  # where a thread has its own niceness
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
    from tensorloom.serving.process import child

    child.load(line)
    ready.set()


def _serve(ready: threading.Event) -> None:
    ready.wait()
    from tensorloom.serving.process import child

    child.serve()


def _follow_server() -> None:
    """Lets the process end with the server, even if that is killed."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)


if __name__ == "__main__":
    main()
