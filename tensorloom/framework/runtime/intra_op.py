"""Threads inside of one operation: a compiled loop over ranges of its elements.

torch divides its own work. A loop that runs without the interpreter's lock is divided
here: the caller's thread and a few others take one range after the other, so that one
which gets no core is not waited for. What comes out must not depend on the ranges: each
element by itself, or sums over blocks that the caller has chosen.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from tensorloom.framework.runtime import threads

_Work = Callable[[int, int], None]

# Ranges for each thread: the last ones even out who was slower.
_RANGES_A_THREAD: Final = 4

_limit = 0
_count: Callable[[], int] | None = None
_here = threading.local()


def limit() -> int:
    """What a session's `intra_op_parallelism_threads` said; 0 for nothing."""
    return _limit


def set_limit(threads_of_one: int) -> None:
    """No operation uses more threads from now on."""
    global _limit
    _limit = threads_of_one


def count_by(count: Callable[[], int]) -> None:
    """Says who knows how many threads an operation of the calling thread may use."""
    global _count
    _count = count


def count() -> int:
    """How many threads an operation of the calling thread may use."""
    known = (_count or _own_count)()
    most: int = getattr(_here, "most", 0)
    return min(known, most) if most else known


@contextmanager
def limited_to(most: int) -> Iterator[None]:
    """No operation of the calling thread uses more threads meanwhile."""
    before = getattr(_here, "most", 0)
    _here.most = min(before, most) if before else most
    try:
        yield
    finally:
        _here.most = before


def _own_count() -> int:
    """The number before torch, which has its own, is loaded."""
    if _limit:
        return _limit
    chosen = os.environ.get("OMP_NUM_THREADS", "")
    if chosen.isdecimal() and int(chosen):
        return int(chosen)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_ranges(work: _Work, size: int, least: int) -> None:
    """Calls `work(begin, end)` for ranges that are all of [0, size) together.

    Args:
      work: it runs in several threads at once.
      size: zero or more.
      least: the size of a range that is worth a thread's while: about 50 us.

    Raises:
      BaseException: the first one of `work` that is seen, when no range runs any more.
    """
    some = size // least
    several = count() if some > 1 else 1
    if several < 2:
        work(0, size)
        return
    parts = min(some, _RANGES_A_THREAD * several)
    bounds = [size * i // parts for i in range(parts + 1)]
    left = deque(itertools.pairwise(bounds))
    ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def help_along() -> None:
        while True:
            try:
                begin, end = left.popleft()
            except IndexError:
                return
            try:
                work(begin, end)
            except BaseException as error:
                ended.put(error)
            else:
                ended.put(None)

    for _ in range(min(several, parts) - 1):
        with suppress(RuntimeError):  # no thread is to be had
            threads.start(help_along)
    help_along()
    errors = [ended.get() for _ in range(parts)]
    for error in errors:
        if error is not None:
            raise error
