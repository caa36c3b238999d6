"""Anonymous files (memfd) that tasks of a host share, of a size that never changes.

Who maps a file of another process is killed (SIGBUS) when it reads beyond the file's
end. So the size is sealed, and a receiver maps only what is.
"""

from __future__ import annotations

import fcntl
import os


def make(name: str, size: int) -> int:
    """A file of zeros; its number.

    Raises:
      OSError: there is no memory, or no file to be had.
    """
    file = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(file, size)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
    except OSError:
        os.close(file)
        raise
    return file


def check(file: int, size: int) -> None:
    """Checks that a file has `size` bytes, and keeps them.

    Raises:
      ValueError: it is shorter, or may become so.
      OSError: it is no such file.
    """
    if os.fstat(file).st_size < size:
        raise ValueError(f"a file shorter than {size} bytes")
    if not fcntl.fcntl(file, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK:
        raise ValueError("a file that may shrink")
