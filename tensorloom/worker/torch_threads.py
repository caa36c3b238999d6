"""How many threads torch uses: one, while other processes want the same cores.

The threads of a parallel kernel meet at its end. When one of them has lost its core to
another process, the others spin until it is back: on two cores with one busy neighbour
a step of 0.45 ms then takes 10 to 200 ms, while on the caller's thread alone it still
takes 0.47 ms. The operating system counts how often it took a core away. Where that
happens often, one thread is tried, and kept for a while if more steps get done so. On
cores of its own a process does not come near the limit, and nothing changes.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from typing import Final

from tensorloom.framework import determinism

# A process alone on its cores loses one 20 to 60 times a second, a crowded one 180 to
# 330 times (measured on two cores).
SWITCHES_PER_S: Final = 120
# What a look at the counter covers at least: long enough for a dozen switches.
WINDOW_S: Final = 0.1
# How many times more steps one thread must get done.
GAIN: Final = 1.25
# How long kernels then stay on one thread; doubled each time that it was right.
FIRST_PAUSE_S: Final = 0.25
LAST_PAUSE_S: Final = 8.0

try:
    import resource
except ImportError:  # not on every system; there all threads are always used
    _usage = None
else:

    def _usage() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


class TorchThreads:
    """Chooses between all threads and one. `adjust` is called before each step."""

    def __init__(
        self,
        count: int,
        set_count: Callable[[int], None],
        switches: Callable[[], int],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`switches` counts how often the process has lost a core."""
        self._count = count
        self._set_count = set_count
        self._switches = switches
        self._clock = clock
        self._is_single = False
        self._was_single = False
        self._pause = FIRST_PAUSE_S
        self._look: Callable[[float], None] = self._look_at_all_threads
        # Steps a second of the last window with all threads.
        self._rate_of_all = 0.0
        # torch keeps the number for each thread that calls it.
        self._here = threading.local()
        self._start_window(clock(), WINDOW_S)

    def adjust(self) -> None:
        """Sets the number of threads for what the calling thread runs next."""
        self._steps += 1
        now = self._clock()
        if now >= self._next_look:
            self._look(now)
        if self._is_single:
            self._set_count(1)
            self._here.is_single = True
        elif self._was_single and getattr(self._here, "is_single", False):
            self._set_count(self._count)
            self._here.is_single = False

    def stop(self) -> None:
        """Always all threads from here on: sums over one or several round otherwise."""
        self._is_single = False
        self._next_look = math.inf

    def _look_at_all_threads(self, now: float) -> None:
        seconds = now - self._since
        lost = self._switches() - self._lost_before
        if lost <= SWITCHES_PER_S * seconds:
            self._pause = FIRST_PAUSE_S
        else:
            self._rate_of_all = self._steps / seconds
            self._is_single = self._was_single = True
            self._look = self._look_at_one_thread
        self._start_window(now, WINDOW_S)

    def _look_at_one_thread(self, now: float) -> None:
        rate = self._steps / (now - self._since)
        if rate > GAIN * self._rate_of_all:
            self._look = self._try_all_threads
            self._start_window(now, self._pause)
            self._pause = min(2 * self._pause, LAST_PAUSE_S)
        else:
            self._try_all_threads(now)

    def _try_all_threads(self, now: float) -> None:
        self._is_single = False
        self._look = self._look_at_all_threads
        self._start_window(now, WINDOW_S)

    def _start_window(self, now: float, seconds: float) -> None:
        self._since = now
        self._next_look = now + seconds
        self._lost_before = self._switches()
        self._steps = 0


_lock = threading.Lock()
_adjust: Callable[[], None] | None = None


def adjuster() -> Callable[[], None]:
    """The function to be called before steps that use torch; one for the process.

    It does nothing where torch has one thread anyway, where the user chose a number
    (`OMP_NUM_THREADS`), and once deterministic results are asked for.
    """
    global _adjust
    with _lock:
        if _adjust is None:
            _adjust = _make_adjuster()
        return _adjust


def _make_adjuster() -> Callable[[], None]:
    import torch

    count = torch.get_num_threads()
    if count == 1 or _usage is None or "OMP_NUM_THREADS" in os.environ:
        return lambda: None
    threads = TorchThreads(count, torch.set_num_threads, _usage)
    determinism.when_enabled(threads.stop)
    return threads.adjust
