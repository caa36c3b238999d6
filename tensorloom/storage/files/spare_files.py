"""Large files that nobody needs any more, kept a moment for what is written next.

To free half a gigabyte can keep a disk busy for longer than writing as much: one that
is told which blocks are free ("discard") clears them. Who saves again and again would
wait for that each time. So a file that goes stays for a moment under a temporary name,
and the next one that is written to its directory takes its blocks over. If none
comes, a thread frees it.

Blocks are written over only if nobody else can see it: the file has no other name, and
no one else has it open.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import threading
from typing import Any, Final

from tensorloom.storage.files.leftovers import temporary_name

_LEAST: Final = 1 << 24  # bytes; what is shorter is freed in no time
_KEPT_S: Final = 0.25


class _Spare:
    """A file under a temporary name; its lock says that it is no leftover."""

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self.descriptor = descriptor
        # Not a daemon: a process that ends waits for it, and leaves nothing behind.
        self.timer = threading.Timer(_KEPT_S, _free, (self,))

    def fits(self, directory: str, descriptor: int, size: int) -> bool:
        """Whether it may become a file that has nothing but its facts, and a size."""
        return (
            os.path.dirname(self.name) == directory
            # What is longer would be freed at once, while somebody waits.
            and os.fstat(self.descriptor).st_size <= size + _LEAST
            and _facts(self.descriptor) == _facts(descriptor)
            and _is_private(self.descriptor)
        )


_spares: list[_Spare] = []
_lock = threading.Lock()


def retire(name: str) -> None:
    """Removes the name of a file that is not needed any more. Raises OSError."""
    spare = _put_aside(name)
    if spare is None:
        os.remove(name)
        return
    with _lock:
        _spares.append(spare)
    try:
        spare.timer.start()
    except RuntimeError:  # the interpreter ends
        _free(spare)


def _put_aside(name: str) -> _Spare | None:
    """Gives a large file a temporary name; None if it is none or that cannot be."""
    try:
        descriptor = os.open(name, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return None
    aside = temporary_name(os.path.abspath(name))
    with contextlib.suppress(OSError):
        if os.fstat(descriptor).st_size >= _LEAST:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(name, aside)
            return _Spare(aside, descriptor)
    os.close(descriptor)
    return None


def _free(spare: _Spare) -> None:
    with _lock:
        if spare not in _spares:  # another thread took it
            return
        _spares.remove(spare)
    with contextlib.suppress(OSError):
        os.remove(spare.name)
    os.close(spare.descriptor)


def take(new: str, descriptor: int, size: int) -> tuple[str, int] | None:
    """A file that may be written over in place of a new one, which is still empty.

    Its bytes are anything, and its length has to be set. That its earlier name is gone
    may not have reached the disk.

    Args:
      new: the name of the new file.
      descriptor: of the same.
      size: how long it is going to be, about.

    Returns:
      Name and descriptor, as those of the new file; None if there is none.
    """
    if size < _LEAST:
        return None
    directory = os.path.dirname(os.path.abspath(new))
    with _lock:
        fitting = (s for s in _spares if s.fits(directory, descriptor, size))
        spare = next(fitting, None)
        if spare is None:
            return None
        _spares.remove(spare)
    spare.timer.cancel()
    return spare.name, spare.descriptor


def _is_private(descriptor: int) -> bool:
    """Whether nobody else has a file open, and it has one name."""
    try:
        # A lease for writing is given to the only one who has it open. Whoever opens it
        # just then makes the system send a signal, by default one that kills.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except (OSError, AttributeError):  # not on this file system, or no Linux
        return False
    return os.fstat(descriptor).st_nlink == 1


def _facts(descriptor: int) -> Any:
    """What tells two files apart but for their bytes: mode, owner, attributes."""
    found = os.fstat(descriptor)
    attributes = {}
    with contextlib.suppress(OSError):  # the file system has none
        names = os.listxattr(descriptor)
        attributes = {name: os.getxattr(descriptor, name) for name in names}
    return found.st_mode, found.st_uid, found.st_gid, attributes


def _forget() -> None:
    """A forked process has the descriptors, but not the thread."""
    global _lock
    _lock = threading.Lock()
    for spare in _spares:
        os.close(spare.descriptor)
    _spares.clear()


os.register_at_fork(after_in_child=_forget)
