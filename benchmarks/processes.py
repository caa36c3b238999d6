"""The systems as processes: their Python, and the workers that measure in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
OURS = "tensorloom"
# Settings that make OpenBLAS, NumPy's library, run the code for another processor than
# this one. Some environments have them, so that results are the same on every machine.
_OTHER_PROCESSORS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
# An installed package has its bytecode beside it; a working tree may be kept from that.
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
# In the order of the report's columns.
SYSTEMS = (OURS, "2.21", "1.15", "torch")


def python_of(system: str) -> Path | None:
    """The Python that runs `system`; None where it is not installed."""
    if system in (OURS, "torch"):
        return Path(sys.executable)
    variable, folder = {
        "1.15": ("PEER115", ".venv-tf115"),
        "2.21": ("PEER221", ".venv-tf221"),
    }[system]
    python = REPOSITORY / os.environ.get(variable, folder) / "bin" / "python"
    return python if python.exists() else None


def start(system: str, arguments: list[str], **pipes: int) -> subprocess.Popen[str]:
    """Starts the Python of a system."""
    python = python_of(system)
    assert python is not None
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    for setting in (*_OTHER_PROCESSORS, _NO_BYTECODE):
        environment.pop(setting, None)
    return subprocess.Popen(
        [python, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if "stderr" in pipes else subprocess.DEVNULL,
        stdin=pipes.get("stdin"),
        text=True,
        env=environment,
    )


class WorkloadError(Exception):
    """A workload failed in one system; the text is its traceback."""


class Worker:
    """A process that measures workloads in one system (see worker.py)."""

    def __init__(self, system: str) -> None:
        self.system = system
        script = str(Path(__file__).with_name("worker.py"))
        self._process = start(system, [script, system], stdin=subprocess.PIPE)

    def prepare(self, name: str) -> None:
        """Sets the workload up and warms it."""
        self._ask("prepare", name)

    def measure(self, name: str) -> float:
        """The seconds of one measurement."""
        return self._ask("measure", name)["seconds"]

    def finish(self, name: str) -> None:
        """Closes the workload's session."""
        self._ask("finish", name)

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate(timeout=60)

    def _ask(self, action: str, name: str) -> dict[str, float]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps({action: name}) + "\n")
        stdin.flush()
        line = stdout.readline()
        answer = json.loads(line) if line else {"error": "the process ended"}
        if "error" in answer:
            raise WorkloadError(f"{self.system}, {name}: {answer['error']}")
        return answer
