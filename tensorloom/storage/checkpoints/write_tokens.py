"""Which process may put checkpoints into a directory, where only one may.

A process that has the lock of a directory writes the lock's fencing token into it, and
looks at it again before each rename that puts a checkpoint or the state file in place.
On a disk it looks, and renames, under the lock of the directory that the next writer
takes to write its own token: a late rename comes before the new writer or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from tensorloom.framework import errors
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.local_filesystem import LocalFileSystem, local_path

#: The file with the newest token.
FILE: Final = "checkpoint.writer"


@dataclass(frozen=True)
class WriteToken:
    """Who writes."""

    service: str  # that gave the token: those of others do not compare
    token: int
    holder: str  # for people


# What this process writes with, by directory. Where there is none, anybody writes.
_TOKENS: dict[str, WriteToken] = {}


def claim(directory: str, token: WriteToken) -> None:
    """Makes this process the writer of a directory.

    Raises:
      errors.AbortedError: one with a newer token is.
    """
    place = _place(directory)
    with _locked(place):
        there = _read(place)
        if there is not None and there.service == token.service:
            _refuse_older(place, token, there)
        filesystem.write_file(
            filesystem.join(place, FILE), json.dumps(asdict(token)).encode()
        )
        _TOKENS[place] = token


def release(directory: str) -> None:
    """Forgets the token of a directory; from then on nothing is looked at."""
    _TOKENS.pop(_place(directory), None)


def is_own(directory: str) -> bool:
    """Whether no other process has become the writer since `claim`."""
    place = _place(directory)
    return place in _TOKENS and _read(place) == _TOKENS[place]


def check(directory: str) -> None:
    """Looks whether this process still is the writer, if it ever was.

    Raises:
      errors.AbortedError: another one is.
    """
    if not _TOKENS:
        return
    place = _place(directory)
    token = _TOKENS.get(place)
    if token is None:
        return
    there = _read(place)
    if there is not None and there != token:
        raise _refused(place, there)


@contextlib.contextmanager
def writing(directory: str) -> Iterator[None]:
    """Around the rename of a file of a directory; see `check`."""
    if not _TOKENS or _place(directory) not in _TOKENS:
        yield
        return
    with _locked(_place(directory)):
        check(directory)
        yield


@contextlib.contextmanager
def directory_lock(path: str) -> Iterator[None]:
    """Holds off other processes that put a bundle into the same local directory."""
    import fcntl

    try:
        descriptor = os.open(path or ".", os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        # Some network file systems have no locks; renaming is still in order there.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _place(directory: str) -> str:
    if isinstance(filesystem.filesystem_of(directory), LocalFileSystem):
        return os.path.realpath(local_path(directory) or ".")
    return directory.rstrip("/")


def _locked(place: str) -> contextlib.AbstractContextManager[None]:
    if isinstance(filesystem.filesystem_of(place), LocalFileSystem):
        return directory_lock(place)
    return contextlib.nullcontext()


def _read(place: str) -> WriteToken | None:
    try:
        content = filesystem.read_file(filesystem.join(place, FILE))
    except errors.NotFoundError:
        return None
    return WriteToken(**json.loads(content))


def _refuse_older(place: str, token: WriteToken, there: WriteToken) -> None:
    if there.token > token.token:
        raise _refused(place, there)


def _refused(place: str, there: WriteToken) -> errors.AbortedError:
    return errors.AbortedError(
        None,
        None,
        f"Nothing was written into {place}: this process is not its writer any more, "
        f"but {there.holder} (token {there.token})",
    )
