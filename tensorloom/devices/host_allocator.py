"""Plain memory under NumPy and torch: kept by the process when it is freed.

A step allocates and frees the same sizes again and again. By default glibc gives large
blocks back to the operating system, which then fills each page with zeros when it is
touched again: for the activations of a small convolutional network that costs as much
as half of its kernels.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Final

# From malloc.h. Setting one of them ends glibc's own adjusting of both.
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
MMAP_THRESHOLD: Final = 32 * 2**20  # the most that glibc takes
TRIM_THRESHOLD: Final = 512 * 2**20


def keep_freed_memory() -> None:
    """Makes malloc keep up to half a gigabyte for the next step.

    Does nothing without glibc, and where the user chose malloc's settings.
    """
    if not sys.platform.startswith("linux"):
        return
    if any(name.startswith("MALLOC_") for name in os.environ):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD)
        mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD)
