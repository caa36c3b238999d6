"""How many threads torch uses: one, while other processes want the same cores.

The threads of a parallel kernel meet at its end. When one of them has lost its core to
another process, the others spin until it is back: on two cores with one busy neighbour
a step of 0.45 ms then takes 10 to 200 ms, while on the caller's thread alone it still
takes 0.47 ms. The operating system counts how often it took a core away. Where that
happens often, one thread is tried, and kept while the cores are crowded if more steps
get done so. On cores of its own a process does not come near the limit, and nothing
changes.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from typing import Final

from tensorloom.framework.runtime import determinism, intra_op

# A process alone on its cores loses one 20 to 60 times for each second that it
# computes, a crowded one 180 to 1000 times (measured on two cores). Not for each second
# that passes: of those a crowded process gets few.
SWITCHES_PER_S: Final = 120
# Fewer say nothing.
LEAST_SWITCHES: Final = 5
# What a look at the counter covers at least: long enough for a dozen switches.
WINDOW_S: Final = 0.1
# How many times more steps one thread must get done.
GAIN: Final = 1.25
# How long kernels then stay on one thread if the cores stay crowded; doubled each time
# that it was right.
FIRST_PAUSE_S: Final = 0.25
LAST_PAUSE_S: Final = 8.0
# And how many times as long as the look at all threads took: one step with all threads
# may take seconds on crowded cores.
PAUSE_RATIO: Final = 20

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
        computed: Callable[[], float] = time.process_time,
    ) -> None:
        """`switches` counts how often the process has lost a core.

        `computed`: the seconds that it had one, of all its threads.
        """
        self._count = count
        self._set_count = set_count
        self._switches = switches
        self._clock = clock
        self._computed = computed
        self._is_single = False
        self._was_single = False
        self._pause = FIRST_PAUSE_S
        self._look: Callable[[float], None] = self._look_at_all_threads
        # The last window with all threads, and steps a second in it.
        self._seconds_of_all = self._rate_of_all = 0.0
        self._pause_until = 0.0
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
        if not self._is_crowded():
            self._pause = FIRST_PAUSE_S
        else:
            self._seconds_of_all = now - self._since
            self._rate_of_all = self._steps / self._seconds_of_all
            self._is_single = self._was_single = True
            self._look = self._look_at_one_thread
        self._start_window(now, WINDOW_S)

    def _look_at_one_thread(self, now: float) -> None:
        rate = self._steps / (now - self._since)
        if rate > GAIN * self._rate_of_all:
            self._look = self._look_for_room
            pause = max(self._pause, PAUSE_RATIO * self._seconds_of_all)
            self._pause_until = now + pause
            self._pause = min(2 * self._pause, LAST_PAUSE_S)
            self._start_window(now, FIRST_PAUSE_S)
        else:
            self._try_all_threads(now)

    def _look_for_room(self, now: float) -> None:
        if self._is_crowded() and now < self._pause_until:
            self._start_window(now, FIRST_PAUSE_S)
        else:
            self._try_all_threads(now)

    def _try_all_threads(self, now: float) -> None:
        self._is_single = False
        self._look = self._look_at_all_threads
        self._start_window(now, WINDOW_S)

    def _is_crowded(self) -> bool:
        """Whether other processes took cores away often in this window."""
        lost = self._switches() - self._lost_before
        computed = self._computed() - self._computed_before
        return lost >= LEAST_SWITCHES and lost > SWITCHES_PER_S * computed

    def _start_window(self, now: float, seconds: float) -> None:
        self._since = now
        self._next_look = now + seconds
        self._lost_before = self._switches()
        self._computed_before = self._computed()
        self._steps = 0


_lock = threading.Lock()
_adjust: Callable[[], None] | None = None
_tasks = 1  # that share this machine's cores


def share_cores(tasks: int) -> None:
    """Says how many tasks of a cluster compute on this machine at one time.

    torch then gets this process's part of the cores, where it is not loaded yet. A
    process that had all of them would find them taken: see above what that costs.
    """
    global _tasks
    with _lock:
        _tasks = max(_tasks, tasks)


def adjuster() -> Callable[[], None]:
    """The function to be called before steps that use torch; one for the process.

    It does nothing where the user chose a number (`OMP_NUM_THREADS`), and once
    deterministic results are asked for.
    """
    global _adjust
    with _lock:
        if _adjust is None:
            _adjust = _make_adjuster()
        return _adjust


def once_in_each_thread(call: Callable[[], None]) -> Callable[[], None]:
    """A function that calls another the first time that a thread calls it.

    A thread that has used torch keeps its number of threads, whatever others set.
    """
    here = threading.local()

    def called() -> None:
        if not hasattr(here, "is_done"):
            call()
            here.is_done = True

    return called


def _make_adjuster() -> Callable[[], None]:
    import torch

    # Loops of our own take as many.
    intra_op.count_by(torch.get_num_threads)
    if intra_op.limit():
        torch.set_num_threads(intra_op.limit())
    if "OMP_NUM_THREADS" in os.environ:
        return lambda: None
    count = torch.get_num_threads()
    if _tasks > 1:
        count = max(1, count // _tasks)
        torch.set_num_threads(count)
    if count == 1 or _usage is None:
        return once_in_each_thread(lambda: torch.set_num_threads(count))
    threads = TorchThreads(count, torch.set_num_threads, _usage)
    determinism.when_enabled(threads.stop)
    return threads.adjust
