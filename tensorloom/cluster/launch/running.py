"""Jobs that were launched from this machine and run: where their tasks are."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tensorloom.transport.peers import security

if TYPE_CHECKING:
    from tensorloom.cluster.launch.job import Task

_FOLDER: Final = "tensorloom-jobs"


@dataclass(frozen=True)
class RunningJob:
    """A job as its launcher has written it down."""

    pid: int  # the launcher's
    program: str
    addresses: dict[str, str]  # by `job index`
    restarts: dict[str, int]
    token: str  # of its tasks; the file is its user's alone


class JobFile:
    """What others of this user read of a job.

    Args:
      program: that it runs.
    """

    def __init__(self, program: str) -> None:
        self._program = program
        self._path = _folder() / f"{os.getpid()}-{id(self):x}.json"

    def write(
        self, addresses: Mapping[Task, str], restarts: Mapping[Task, int]
    ) -> None:
        """Writes where the tasks are now."""
        job = RunningJob(
            os.getpid(),
            self._program,
            {task.name: address for task, address in addresses.items()},
            {task.name: count for task, count in restarts.items()},
            security.token().decode(errors="replace"),
        )
        beside = self._path.with_suffix(".new")
        # A disk that is full is no reason for a job to fail.
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            if not _is_ours(self._path.parent):
                return  # somebody else has made it, and would read the token
            beside.touch(mode=0o600)
            beside.write_text(json.dumps(asdict(job)))
            beside.replace(self._path)

    def remove(self) -> None:
        """The job is over."""
        with suppress(OSError):
            self._path.unlink()


def running_jobs() -> list[RunningJob]:
    """The jobs of this user whose launchers live."""
    jobs: list[RunningJob] = []
    if not _is_ours(_folder()):
        return jobs
    for path in sorted(_folder().glob("*.json")):
        with suppress(OSError, ValueError):
            job = RunningJob(**json.loads(path.read_text()))
            if _lives(job.pid):
                jobs.append(job)
            else:
                path.unlink()  # it was killed
    return jobs


def _folder() -> Path:
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    return Path(base) / f"{_FOLDER}-{os.getuid()}"


def _is_ours(folder: Path) -> bool:
    """Whether nobody but this user writes or reads a folder, which is there."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    is_private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    return is_private and found.st_uid == os.getuid()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
