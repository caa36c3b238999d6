"""Threads that run one at a time, on a clock that jumps from event to event.

Each strand of a simulation is a thread of its own, but only one of them runs: where it
would wait, it hands over to the next one that can go on, or moves the clock to the next
event. Which one goes on is drawn from the seed, so one seed is one run.
"""

from __future__ import annotations

import heapq
import random
import threading
import traceback
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# More than that at one moment of the virtual clock is a loop.
_MOST_AT_ONCE = 5_000_000


class SimulationOver(BaseException):
    """Ends the strands that are left when the simulation is over."""


@dataclass(eq=False)
class Process:
    """A process of the simulated cluster: its strands live and die with it."""

    name: str
    is_dead: bool = False
    is_stopped: bool = False  # as by SIGSTOP
    #: How much longer all that it computes takes.
    slowness: float = 1.0
    #: What is one for each process in reality, by the simulation's name for it.
    state: dict[str, Any] = field(default_factory=dict)
    #: What could go on, if the process was not stopped.
    held: list[Strand] = field(default_factory=list)
    #: When it has computed all that it was given to compute.
    busy_until: float = 0.0


class Strand:
    """A thread of the simulation."""

    __slots__ = (
        "is_over",
        "is_waiting",
        "name",
        "number",
        "process",
        "runner",
        "task",
        "turn",
        "waits_for",
        "was_woken",
    )

    def __init__(
        self, number: int, name: str, process: Process, task: Callable[[], None]
    ) -> None:
        self.number = number
        self.name = name
        self.process = process
        self.task: Callable[[], None] | None = task
        self.runner: _Runner | None = None
        self.is_over = False
        self.is_waiting = False
        self.was_woken = False
        self.waits_for = ""
        self.turn = 0  # grows with each wait: an alarm of an earlier one wakes nobody


class _Runner:
    """A thread of the machine, which runs strands one after another."""

    __slots__ = ("baton", "strand", "thread")

    def __init__(self) -> None:
        self.baton = threading.Lock()
        self.baton.acquire()
        self.strand: Strand | None = None
        self.thread: threading.Thread | None = None


@dataclass
class Failure:
    """A strand that ended with an error that nobody caught."""

    process: str
    strand: str
    error: BaseException

    def __str__(self) -> str:
        text = "".join(traceback.format_exception(self.error))
        return f"{self.process}, {self.strand}: {text}"


class Stuck(Exception):
    """Nothing can go on, or the time of the simulation is over."""


class Scheduler:
    """The strands and events of one simulation.

    Args:
      seed: of all that is drawn.
      switches: how likely another strand comes first where a lock is taken.
      limit_s: of the virtual clock; then the simulation is stuck.
    """

    def __init__(
        self, seed: int = 0, switches: float = 0.0, limit_s: float = 1e9
    ) -> None:
        self.random = random.Random(seed)
        self.now = 0.0
        self.switches = switches
        self.limit_s = limit_s
        self.current: Strand | None = None
        self.failures: list[Failure] = []
        #: A sum over which strand went on when: two runs with the same are the same.
        self.digest = 0
        self._ready: list[Strand] = []
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = 0
        self._idle: list[_Runner] = []
        self._runners: list[_Runner] = []
        self._waiting: dict[Strand, None] = {}
        self._is_over = False
        self._ended = threading.Lock()
        self._stuck: Stuck | None = None
        self._main: Strand | None = None
        self._at_once = 0
        self._local = threading.local()

    # --- for strands -----------------------------------------------------------------

    @property
    def owns_thread(self) -> bool:
        """Whether the thread that asks is one of the simulation's."""
        return getattr(self._local, "is_runner", False)

    @property
    def here(self) -> Strand:
        """The strand that runs."""
        assert self.current is not None
        return self.current

    def spawn(
        self, task: Callable[[], None], name: str = "", process: Process | None = None
    ) -> Strand:
        """A new strand, of the process that runs or of another; it begins later."""
        if process is None:
            process = self.here.process
        self._numbers += 1
        strand = Strand(self._numbers, name, process, task)
        self._make_ready(strand)
        return strand

    def at(self, when: float, event: Callable[[], None]) -> None:
        """Calls `event`, which must not wait, when the clock has come to a time."""
        self._numbers += 1
        heapq.heappush(self._events, (max(when, self.now), self._numbers, event))

    def after(self, seconds: float, event: Callable[[], None]) -> None:
        """As `at`, so many seconds from now."""
        self.at(self.now + seconds, event)

    def wait(self, timeout_s: float | None = None, what: str = "") -> bool:
        """Waits for `wake`; False if the time was over before."""
        me = self.here
        if self._is_over:
            raise SimulationOver
        me.turn += 1
        me.is_waiting = True
        me.waits_for = what
        if timeout_s is not None:
            turn = me.turn
            self.after(max(0.0, timeout_s), lambda: self._alarm(me, turn))
        self._waiting[me] = None
        self._hand_over(me)
        return me.was_woken

    def wake(self, strand: Strand) -> None:
        """Lets a strand go on that waits."""
        if strand.is_waiting:
            self._go_on(strand, was_woken=True)

    def let_others(self) -> None:
        """Lets other strands go first, if there are any."""
        me = self.here
        if self._ready and not self._is_over:
            self._make_ready(me)
            self._hand_over(me)

    def sleep(self, seconds: float) -> None:
        """Waits on the virtual clock."""
        self.wait(seconds, "sleeps")

    def _alarm(self, strand: Strand, turn: int) -> None:
        if strand.is_waiting and strand.turn == turn:
            self._go_on(strand, was_woken=False)

    def _go_on(self, strand: Strand, was_woken: bool) -> None:
        strand.is_waiting = False
        strand.was_woken = was_woken
        self._waiting.pop(strand, None)
        self._make_ready(strand)

    def _make_ready(self, strand: Strand) -> None:
        if strand.process.is_stopped:
            strand.process.held.append(strand)
        else:
            self._ready.append(strand)

    # --- processes -------------------------------------------------------------------

    def stop(self, process: Process) -> None:
        """Stops a process, as SIGSTOP does."""
        process.is_stopped = True

    def go_on(self, process: Process) -> None:
        """Lets a stopped process go on."""
        process.is_stopped = False
        held, process.held = process.held, []
        self._ready += held

    def kill(self, process: Process) -> None:
        """Ends a process. Its strands run no further, not even to unwind."""
        process.is_dead = True

    # --- switching -------------------------------------------------------------------

    def _next(self) -> Strand:
        """Who goes on; moves the clock where nobody can."""
        ready = self._ready
        while True:
            while ready:
                index = self.random.randrange(len(ready)) if len(ready) > 1 else 0
                strand = ready[index]
                ready[index] = ready[-1]
                ready.pop()
                if strand.process.is_dead:
                    continue
                if strand.process.is_stopped:
                    strand.process.held.append(strand)
                    continue
                self._at_once += 1
                if self._at_once > _MOST_AT_ONCE:
                    raise Stuck(f"{strand.name} and others run without an end")
                mark = b"%d %r" % (strand.number, self.now)
                self.digest = zlib.crc32(mark, self.digest)
                return strand
            if not self._events:
                raise Stuck(f"nothing can go on\n{self.describe_waits()}")
            when, _, event = heapq.heappop(self._events)
            if when > self.limit_s:
                raise Stuck(
                    f"not over after {self.limit_s:g} s\n{self.describe_waits()}"
                )
            if when > self.now:
                self.now = when
                self._at_once = 0
            try:
                event()
            except Exception as error:
                self.failures.append(Failure("an event", repr(event), error))

    def _hand_over(self, me: Strand) -> None:
        """Runs others until somebody makes `me` ready."""
        try:
            strand = self._next()
        except Stuck as error:
            self._end(error)
            runner = me.runner
            assert runner is not None
            runner.baton.acquire()
            raise SimulationOver from None
        if strand is me:
            return
        self._give(strand)
        runner = me.runner
        assert runner is not None
        runner.baton.acquire()
        if self._is_over:
            raise SimulationOver

    def _give(self, strand: Strand) -> None:
        """Lets a strand run, on the thread that it has or gets."""
        self.current = strand
        runner = strand.runner
        if runner is None:
            if self._idle:
                runner = self._idle.pop()
            else:
                runner = _Runner()
                runner.thread = threading.Thread(
                    target=self._serve, args=(runner,), daemon=True
                )
                self._runners.append(runner)
                runner.thread.start()
            strand.runner = runner
            runner.strand = strand
        runner.baton.release()

    def _serve(self, runner: _Runner) -> None:
        """Runs strands: what is given to the thread, and what is new when one ends."""
        self._local.is_runner = True
        runner.baton.acquire()
        while not self._is_over:
            strand = runner.strand
            assert strand is not None
            if not self._run(strand):
                return
            runner.strand = None
            following = self._after(strand)
            if following is not None and following.runner is None:
                self.current = following
                following.runner, runner.strand = runner, following
                continue
            self._idle.append(runner)
            if following is not None:
                self._give(following)
            runner.baton.acquire()

    def _after(self, strand: Strand) -> Strand | None:
        """Who goes on after the end of a strand; None after the end of all."""
        if strand is self._main:
            self._end(None)
            return None
        try:
            return self._next()
        except Stuck as error:
            self._end(error)
            return None

    def _run(self, strand: Strand) -> bool:
        """Runs a strand to its end; False when the simulation ended it."""
        task = strand.task
        assert task is not None
        strand.task = None
        try:
            task()
        except SimulationOver:
            return False
        except BaseException as error:
            if self._is_over:
                return False
            self.failures.append(Failure(strand.process.name, strand.name, error))
        strand.is_over = True
        strand.runner = None
        return not self._is_over

    # --- the whole -------------------------------------------------------------------

    def run(self, main: Callable[[], None], process: Process) -> None:
        """Runs `main` as the first strand, to its end.

        What other strands are left with is ended then.

        Raises:
          Stuck: it has not come to its end.
        """
        self._ended.acquire()
        self._main = self.spawn(main, "main", process)
        self._give(self._next())
        self._ended.acquire()
        self._unwind()
        if self._stuck is not None:
            raise self._stuck

    def _end(self, error: Stuck | None) -> None:
        self._stuck = error
        self._is_over = True
        self._ended.release()

    def _unwind(self) -> None:
        """Ends the threads, one after another."""
        for runner in list(self._runners):
            if runner.strand is not None:
                self.current = runner.strand
            runner.baton.release()
            assert runner.thread is not None
            runner.thread.join()
        self._ready.clear()
        self._events.clear()
        self._waiting.clear()

    def describe_waits(self) -> str:
        """Who waits for what, for people."""
        return "\n".join(
            f"  {s.process.name}: {s.name} ({s.waits_for})"
            for s in self._waiting
            if not s.process.is_dead
        )
