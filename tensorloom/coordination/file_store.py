"""A directory as a lock service, for the processes of one machine."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tensorloom.coordination.store import Lease, Store, asked

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class FileStore(Store):
    """Files below a directory, changed under a lock of its own.

    The ends of leases are times of the machine's steady clock, which all its processes
    share and nobody sets. A restart of the machine ends all leases.

    Args:
      directory: made if it is not there. It must be on a disk of this machine.
      lease_s: after how long a record goes that is not renewed.
    """

    failures = (OSError,)

    def __init__(self, directory: str, lease_s: float) -> None:
        self.name = f"file://{directory}"
        self.lease_s = lease_s
        self._directory = Path(directory)
        self._boot = _BOOT_ID.read_text().strip() if _BOOT_ID.exists() else ""
        self._open()

    @asked
    def _open(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)

    @asked
    def create(self, key: str, value: bytes, fenced: bool) -> Lease | None:
        """See `Store`."""
        with self._locked():
            if self._living(key) is not None:
                return None
            token = 0
            if fenced:
                token = self._token(key) + 1
                self._write("tokens", key, str(token).encode())
            self._put(key, value)
        return Lease(key, value, token)

    @asked
    def renew(self, lease: Lease) -> bool:
        """See `Store`."""
        with self._locked():
            if self._living(lease.key) != lease.value:
                return False
            self._put(lease.key, lease.value)
        return True

    @asked
    def remove(self, lease: Lease) -> bool:
        """See `Store`."""
        with self._locked():
            if self._living(lease.key) != lease.value:
                return False
            self._path("records", lease.key).unlink()
        return True

    @asked
    def read(self, key: str) -> bytes | None:
        """See `Store`."""
        return self._living(key)

    @asked
    def list(self, folder: str) -> dict[str, bytes]:
        """See `Store`."""
        place = self._directory / "records" / folder
        names = sorted(p.name for p in place.iterdir()) if place.is_dir() else []
        found = {name: self._living(f"{folder}/{name}") for name in names}
        return {name: value for name, value in found.items() if value is not None}

    @asked
    def is_newest(self, lease: Lease) -> bool:
        """See `Store`."""
        return self._token(lease.key) == lease.token

    @asked
    def keep(self, key: str, value: bytes, lease: Lease) -> bool:
        """See `Store`."""
        with self._locked():
            if self._token(lease.key) != lease.token:
                return False
            self._write("kept", key, value)
        return True

    @asked
    def kept(self, key: str) -> bytes | None:
        """See `Store`."""
        return self._content("kept", key)

    def close(self) -> None:
        """See `Store`."""

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Holds off all others; the kernel lets go of it when a process dies."""
        descriptor = os.open(self._directory / "lock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _path(self, kind: str, key: str) -> Path:
        return self._directory / kind / key

    def _content(self, kind: str, key: str) -> bytes | None:
        try:
            return self._path(kind, key).read_bytes()
        except FileNotFoundError:
            return None

    def _write(self, kind: str, key: str, content: bytes) -> None:
        """Readers see the old or the new content; so does who comes after a crash."""
        path = self._path(kind, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._directory / "new"  # one writes at a time
        beside.write_bytes(content)
        beside.replace(path)

    def _put(self, key: str, value: bytes) -> None:
        record = {"boot": self._boot, "ends": _steady() + self.lease_s}
        head = json.dumps(record).encode()
        self._write("records", key, head + b"\n" + value)

    def _living(self, key: str) -> bytes | None:
        content = self._content("records", key)
        if content is None:
            return None
        head, _, value = content.partition(b"\n")
        record: dict[str, Any] = json.loads(head)
        lives = record["boot"] == self._boot and record["ends"] > _steady()
        return value if lives else None

    def _token(self, key: str) -> int:
        return int(self._content("tokens", key) or 0)


def _steady() -> float:
    """Seconds of a clock that goes on while the machine sleeps, if there is one."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)
