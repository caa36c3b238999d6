"""Locks, events, queues and the clock of a simulation, as `concurrency` has them.

Each name here does what Python's own does. A thread that is not of the simulation, as
one of a library, gets Python's own.
"""

from __future__ import annotations

import queue
import secrets
import threading
import time as real_time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorloom.simulate.scheduler import Scheduler, Strand

# The virtual clock begins there.
EPOCH_S = 1_500_000_000.0


class SimLock:
    """As `threading.Lock`."""

    __slots__ = ("_is_held", "_scheduler", "_waiting")

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._is_held = False
        self._waiting: deque[Strand] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Takes the lock; False if it could not in time."""
        scheduler = self._scheduler
        if scheduler.switches and scheduler.random.random() < scheduler.switches:
            scheduler.let_others()
        if not self._is_held:
            self._is_held = True
            return True
        if not blocking:
            return False
        return self._wait(None if timeout < 0 else timeout)

    def _wait(self, timeout: float | None) -> bool:
        scheduler = self._scheduler
        me = scheduler.here
        until = None if timeout is None else scheduler.now + timeout
        while self._is_held:
            left = None if until is None else until - scheduler.now
            if left is not None and left <= 0:
                return False
            self._waiting.append(me)
            if not scheduler.wait(left, "a lock"):
                self._waiting.remove(me)
        self._is_held = True
        return True

    def release(self) -> None:
        """Gives the lock back."""
        if not self._is_held:
            raise RuntimeError("release unlocked lock")
        self._is_held = False
        if self._waiting:
            self._scheduler.wake(self._waiting.popleft())

    def locked(self) -> bool:
        """Whether somebody has it."""
        return self._is_held

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exc: object) -> None:
        self.release()


class SimRLock:
    """As `threading.RLock`."""

    __slots__ = ("_count", "_lock", "_owner", "_scheduler")

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._lock = SimLock(scheduler)
        self._owner: Strand | None = None
        self._count = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Takes the lock, once more if the strand has it."""
        me = self._scheduler.here
        if self._owner is me:
            self._count += 1
            return True
        if not self._lock.acquire(blocking, timeout):
            return False
        self._owner = me
        self._count = 1
        return True

    def release(self) -> None:
        """Gives it back once."""
        if self._owner is not self._scheduler.here:
            raise RuntimeError("cannot release un-acquired lock")
        self._count -= 1
        if not self._count:
            self._owner = None
            self._lock.release()

    def release_all(self) -> int:
        """Gives it back; returns how often it was taken."""
        count, self._count, self._owner = self._count, 0, None
        self._lock.release()
        return count

    def take_again(self, count: int) -> None:
        """Takes it as often as it was."""
        self._lock.acquire()
        self._owner, self._count = self._scheduler.here, count

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exc: object) -> None:
        self.release()


class SimCondition:
    """As `threading.Condition`."""

    __slots__ = ("_lock", "_scheduler", "_waiting")

    def __init__(self, scheduler: Scheduler, lock: Any = None) -> None:
        self._scheduler = scheduler
        self._lock: Any = SimRLock(scheduler) if lock is None else lock
        self._waiting: list[Strand] = []

    def acquire(self, *arguments: Any) -> bool:
        """Takes the lock."""
        taken: bool = self._lock.acquire(*arguments)
        return taken

    def release(self) -> None:
        """Gives it back."""
        self._lock.release()

    def __enter__(self) -> bool:
        taken: bool = self._lock.__enter__()
        return taken

    def __exit__(self, *exc: object) -> None:
        self._lock.__exit__(*exc)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for a notification, without the lock."""
        me = self._scheduler.here
        self._waiting.append(me)
        is_reentrant = isinstance(self._lock, SimRLock)
        count = self._lock.release_all() if is_reentrant else self._lock.release()
        try:
            woken = self._scheduler.wait(timeout, "a condition")
            if not woken and me in self._waiting:
                self._waiting.remove(me)
        finally:
            if is_reentrant:
                self._lock.take_again(count)
            else:
                self._lock.acquire()
        return woken

    def wait_for(
        self, predicate: Callable[[], Any], timeout: float | None = None
    ) -> Any:
        """Waits until something is so."""
        until = None if timeout is None else self._scheduler.now + timeout
        while not (result := predicate()):
            left = None if until is None else until - self._scheduler.now
            if left is not None and left <= 0:
                break
            self.wait(left)
        return result

    def notify(self, n: int = 1) -> None:
        """Wakes some that wait."""
        woken, self._waiting = self._waiting[:n], self._waiting[n:]
        for strand in woken:
            self._scheduler.wake(strand)

    def notify_all(self) -> None:
        """Wakes all that wait."""
        self.notify(len(self._waiting))


class SimEvent:
    """As `threading.Event`."""

    __slots__ = ("_is_set", "_scheduler", "_waiting")

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._is_set = False
        self._waiting: list[Strand] = []

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._is_set

    def set(self) -> None:
        """Sets it, and wakes all that wait."""
        self._is_set = True
        woken, self._waiting = self._waiting, []
        for strand in woken:
            self._scheduler.wake(strand)

    def clear(self) -> None:
        """Sets it back."""
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it is set; False if the time was over before."""
        if not self._is_set:
            me = self._scheduler.here
            self._waiting.append(me)
            if not self._scheduler.wait(timeout, "an event") and me in self._waiting:
                self._waiting.remove(me)
        return self._is_set


class SimSemaphore:
    """As `threading.Semaphore`."""

    __slots__ = ("_changed", "_value")

    def __init__(self, scheduler: Scheduler, value: int = 1) -> None:
        self._changed = SimCondition(scheduler, SimLock(scheduler))
        self._value = value

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        """Takes one; False if there was none in time."""
        with self._changed:
            limit = timeout if blocking else 0.0
            if not self._changed.wait_for(lambda: self._value > 0, limit):
                return False
            self._value -= 1
            return True

    def release(self, n: int = 1) -> None:
        """Gives some back."""
        with self._changed:
            self._value += n
            self._changed.notify(n)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exc: object) -> None:
        self.release()


class SimQueue:
    """As `queue.SimpleQueue`."""

    __slots__ = ("_changed", "_items")

    def __init__(self, scheduler: Scheduler) -> None:
        self._changed = SimCondition(scheduler, SimLock(scheduler))
        self._items: deque[Any] = deque()

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Adds an item."""
        with self._changed:
            self._items.append(item)
            self._changed.notify()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Takes the oldest item.

        Raises:
          queue.Empty: there was none in time.
        """
        with self._changed:
            limit = timeout if block else 0.0
            if not self._changed.wait_for(lambda: bool(self._items), limit):
                raise queue.Empty
            return self._items.popleft()

    def get_nowait(self) -> Any:
        """As `get`, without waiting."""
        return self.get(block=False)

    def empty(self) -> bool:
        """Whether there is nothing."""
        return not self._items

    def qsize(self) -> int:
        """How many there are."""
        return len(self._items)


class SimThread:
    """As `threading.Thread`."""

    def __init__(
        self,
        scheduler: Scheduler,
        group: None = None,
        target: Callable[..., Any] | None = None,
        name: str | None = None,
        args: Any = (),
        kwargs: Any = None,
        daemon: bool | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._target = target
        self._arguments = args, kwargs or {}
        self.name = str(name or getattr(target, "__qualname__", "a thread"))
        self.daemon = daemon
        self._ended = SimEvent(scheduler)
        self._is_started = False

    def start(self) -> None:
        """Begins it."""
        self._is_started = True
        self._scheduler.spawn(self._run, self.name)

    def _run(self) -> None:
        arguments, named = self._arguments
        try:
            if self._target is not None:
                self._target(*arguments, **named)
        finally:
            self._ended.set()

    def join(self, timeout: float | None = None) -> None:
        """Waits for its end."""
        self._ended.wait(timeout)

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._is_started and not self._ended.is_set()


def names_for(scheduler: Scheduler) -> dict[str, Any]:
    """What `concurrency.replaced` gets for a simulation."""

    def made(kind: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
        def make(*arguments: Any, **named: Any) -> Any:
            if scheduler.owns_thread:
                return kind(scheduler, *arguments, **named)
            return own(*arguments, **named)

        return make

    def asked(answer: Callable[..., Any], own: Callable[..., Any]) -> Any:
        def ask(*arguments: Any) -> Any:
            return (answer if scheduler.owns_thread else own)(*arguments)

        return ask

    return {
        "Lock": made(SimLock, threading.Lock),
        "RLock": made(SimRLock, threading.RLock),
        "Condition": made(SimCondition, threading.Condition),
        "Event": made(SimEvent, threading.Event),
        "Semaphore": made(SimSemaphore, threading.Semaphore),
        "SimpleQueue": made(SimQueue, queue.SimpleQueue),
        "Thread": made(SimThread, threading.Thread),
        "monotonic": asked(lambda: scheduler.now, real_time.monotonic),
        "time": asked(lambda: EPOCH_S + scheduler.now, real_time.time),
        "sleep": asked(scheduler.sleep, real_time.sleep),
        "randbits": asked(scheduler.random.getrandbits, secrets.randbits),
    }
