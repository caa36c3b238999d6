"""Huge pages for large blocks of memory, where the system has them ready.

They save most of the page faults of fresh memory, but may take several times as long as
small pages do: where memory is in use for other things, the disk's cache too, the
system first moves pages about to make room for one; and a virtual machine that gives
its large pieces of free memory back to its host has to get each of them again.
"""

from __future__ import annotations

import contextlib
import functools
import mmap
from pathlib import Path
from typing import Final

_PAGE: Final = 4096
_ORDER: Final = 9  # of a huge page: 2^9 pages
# So many bytes are left to others, and to blocks that nobody has touched yet.
_LEFT: Final = 1 << 30


def ask_for(memory: mmap.mmap, size: int) -> None:
    """Lets a mapping have huge pages, if there are enough at hand for its bytes."""
    if not are_given_back() and at_hand() >= size + _LEFT:
        # Not every kernel has huge pages.
        with contextlib.suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)


@functools.cache
def are_given_back(
    path: str = "/sys/module/page_reporting/parameters/page_reporting_order",
) -> bool:
    """Whether free memory in such pieces goes to the host of a virtual machine."""
    try:
        order = int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return False
    return 0 <= order <= _ORDER  # without a host that wants it: the largest number


def at_hand(path: str = "/proc/buddyinfo") -> int:
    """Bytes of free memory in pieces of a huge page and more; 0 where nobody says."""
    try:
        lines = Path(path).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return 0
    free = 0
    for line in lines:
        # Node 0, zone Normal, and how many pieces there are of each order.
        counts = line.split()[4 + _ORDER :]
        for order, count in enumerate(counts, _ORDER):
            free += int(count) * (_PAGE << order)
    return free
