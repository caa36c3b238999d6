"""What processes that were killed while they saved have left in a directory.

A temporary file is locked by the process that writes it, until it has its final name;
the system unlocks it when the process ends, however it ends. So one that can be locked
belongs to nobody, and two processes that save to one directory do not disturb each
other. Where locks do not reach from host to host, age decides.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
import uuid
import zlib
from typing import Final

_HOST: Final = f"{zlib.crc32(os.uname().nodename.encode()):08x}"
_TEMPORARY: Final = re.compile(r".*\.tempstate([0-9a-f]{8})[0-9a-f]{32}")
# Of one save of several shards, whose parts several hosts write: nobody can lock it.
_PARTS: Final = re.compile(r".*_temp_[0-9a-f]{32}")
_LONGEST_NAME: Final = 255  # bytes, of most file systems
_OLD: Final = 3600  # seconds without a change


def temporary_name(path: str) -> str:
    """A name beside `path` that nobody else has."""
    suffix = f".tempstate{_HOST}{uuid.uuid4().hex}"
    directory, name = os.path.split(path)
    if len(os.fsencode(name)) + len(suffix) > _LONGEST_NAME:
        name = os.fsencode(name)[:100].decode(errors="ignore")
        path = os.path.join(directory, name)
    return path + suffix


def hold(descriptor: int) -> bool:
    """Locks a new temporary file; False if it was taken for a leftover meanwhile."""
    import fcntl

    # Some network file systems have no locks: nobody removes leftovers there.
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return os.fstat(descriptor).st_nlink > 0


def remove_leftovers(directory: str) -> None:
    """Removes what dead processes left; what cannot be removed stays."""
    with contextlib.suppress(OSError), os.scandir(directory or ".") as entries:
        for entry in entries:
            temporary = _TEMPORARY.fullmatch(entry.name)
            if temporary is not None:
                _remove_dead(entry.path, temporary[1] == _HOST)
            elif _PARTS.fullmatch(entry.name):
                _remove_old_parts(entry.path)


def _remove_dead(path: str, own_host: bool) -> None:
    import fcntl

    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if own_host or _is_old(os.fstat(descriptor).st_mtime):
                os.remove(path)
        finally:
            os.close(descriptor)


def _remove_old_parts(path: str) -> None:
    with contextlib.suppress(OSError):
        with os.scandir(path) as entries:
            times = [entry.stat().st_mtime for entry in entries]
        if _is_old(max([os.stat(path).st_mtime, *times])):
            shutil.rmtree(path)


def _is_old(time_s: float) -> bool:
    return time.time() - time_s > _OLD
