"""Chiefs of one directory: the second waits, whatever becomes of the first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tensorloom.coordination.coordinator import LEASE_VARIABLE, VARIABLE
from tests.coordination.services import SERVERS, Service


class Chief:
    """A process; see `chief.py`. Its two streams are one."""

    def __init__(
        self, service: Service, name: str, model: Path, lease_s: float
    ) -> None:
        url = f"{service.url()}?namespace={name.replace('/', '-')}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.coordination.chief", str(model)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, VARIABLE: url, LEASE_VARIABLE: str(lease_s)},
        )
        self.pid = self._process.pid

    def read(self, until: str) -> str:
        """The rest of the next line that has a text, after it."""
        assert self._process.stdout is not None
        seen = []
        for line in self._process.stdout:
            seen.append(line)
            if until in line:
                return line.partition(until)[2].strip()
        pytest.fail(f"no {until!r} in {''.join(seen)}")

    def ask_for_a_step(self) -> None:
        """Has it make a step; `read("made")` is its number."""
        assert self._process.stdin is not None
        self._process.stdin.write("step\n")
        self._process.stdin.flush()

    def step(self) -> str:
        """Has it make a step; returns its number."""
        self.ask_for_a_step()
        return self.read("made ")

    def send(self, number: int) -> None:
        """Sends it a signal."""
        self._process.send_signal(number)

    def end(self) -> None:
        """Lets it end, and waits."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.read()
        assert self._process.wait(120) == 0

    def close(self) -> None:
        """Kills it."""
        self._process.kill()
        self._process.wait(120)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.mark.parametrize(
    "service",
    [pytest.param("files", marks=pytest.mark.multiprocess), *SERVERS],
    indirect=True,
)
def test_a_second_chief_takes_over(service: Service, name: str, tmp_path: Path) -> None:
    model = tmp_path / "model"
    with closing(Chief(service, name, model, lease_s=5.0)) as first:
        assert first.read("ready") == "0"
        assert [first.step() for _ in range(2)] == ["1", "2"]
        with closing(Chief(service, name, model, lease_s=5.0)) as second:
            assert f"process {first.pid} on" in second.read(
                "Waiting for the checkpoint"
            )
            first.send(signal.SIGKILL)
            # It begins where the first one ended.
            assert second.read("ready") == "2"
            assert second.step() == "3"
            with closing(Chief(service, name, model, lease_s=60.0)) as third:
                third.read("Waiting for the checkpoint")
                second.send(signal.SIGSTOP)
                assert third.read("ready") == "3"
                assert [third.step() for _ in range(2)] == ["4", "5"]
                second.send(signal.SIGCONT)
                second.ask_for_a_step()
                # It saves nothing, and waits; then it goes on from where the third was.
                told = second.read("Waiting for the checkpoint")
                assert f"process {third.pid} on" in told
                third.end()
            assert second.read("made ") == "6"
            second.end()
