"""A process that compiles, as its user sees it; `compiling.py` is what runs in it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Final

from tensorloom.worker.compiled.request import PACKAGE, Request, cache_folder

#: Seconds after which a compilation is given up.
MOST_S: Final = 900.0


class CompilerProcess:
    """One process, started for the first compilation. `end` may come at any time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_over = False

    def compile(self, request: Request, path: Path) -> str | None:
        """Compiles into a file; returns what is wrong, if something is."""
        process = self._started()
        if process is None:
            return "the program ends"
        assert process.stdin is not None
        try:
            process.stdin.write(request.to_line(path))
            process.stdin.flush()
            answer = _line_of(process)
        except OSError as error:
            answer = str(error).encode()
        if not answer.endswith(b"\n"):
            self._kill()
            return "the process that compiles ended, or took too long"
        problem: str | None = json.loads(answer)["problem"]
        return problem

    def end(self) -> None:
        """Ends the process, whatever it does."""
        with self._lock:
            self._is_over = True
        self._kill()

    def _started(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._is_over:
                return None
            if self._process is None:
                self._process = _start()
            return self._process

    def _kill(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        # With the compilers that it runs.
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _start() -> subprocess.Popen[bytes]:
    paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(cache_folder() / "inductor"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "tensorloom.worker.compiled.compiling"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )


def _line_of(process: subprocess.Popen[bytes]) -> bytes:
    """A line of its output; less if it ends or takes too long."""
    assert process.stdout is not None
    line = b""
    end = time.monotonic() + MOST_S
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], end - time.monotonic())
        if not ready:
            return line
        more = os.read(process.stdout.fileno(), 1 << 16)
        if not more:
            return line
        line += more
    return line
