"""`tf.train.Coordinator`: stops a set of threads together."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework import errors
from tensorloom.framework.export import export


@export("train.Coordinator")
class Coordinator:
    """Threads ask `should_stop`; any may `request_stop`, with an error or without.

    Args:
      clean_stop_exception_types: errors that stop without being raised again by
        `join`; OutOfRangeError when None.
    """

    def __init__(
        self, clean_stop_exception_types: Iterable[type[BaseException]] | None = None
    ) -> None:
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean_stop_exception_types = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    def _filtered(self, ex: Any) -> BaseException | None:
        error = ex[1] if isinstance(ex, tuple) else ex
        if error is None or isinstance(error, self._clean_stop_exception_types):
            return None
        if not isinstance(error, BaseException):
            return ValueError(
                "ex must be a tuple or sys.exc_info must return the current "
                f"exception: {error}"
            )
        return error

    def request_stop(self, ex: Any = None) -> None:
        """Asks the threads to stop.

        Args:
          ex: an exception or `sys.exc_info()` that `join` raises again.
        """
        with self._lock:
            error = self._filtered(ex)
            if self._joined and error is not None:
                raise error
            if self._stop_event.is_set():
                return
            if error is not None and self._error is None:
                if isinstance(ex, tuple):
                    program_log.info(
                        "Error reported to Coordinator: %s", error, exc_info=ex
                    )
                else:
                    program_log.info(
                        "Error reported to Coordinator: %s, %s", type(error), error
                    )
                self._error = error
            self._stop_event.set()

    def clear_stop(self) -> None:
        """Forgets that a stop was requested."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """An exception inside the block requests a stop and goes no further."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits (seconds) for a stop; whether it was requested."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread that `join` waits for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for the threads to end, and raises the error that was reported.

        Args:
          threads: beside those registered.
          stop_grace_period_secs: how long threads may go on after a stop.
          ignore_live_threads: do not fail when some do not end.

        Raises:
          RuntimeError: threads are still running after the grace period.
        """
        with self._lock:
            waiting = list(self._registered_threads.union(threads or ()))
        while any(t.is_alive() for t in waiting) and not self.wait_for_stop(1.0):
            pass
        _wait_while_alive(waiting, stop_grace_period_secs)
        stragglers = [t.name for t in waiting if t.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._error is not None:
                raise self._error
            if not stragglers:
                return
            names = " ".join(stragglers)
            text = f"Coordinator stopped with threads still running: {names}"
            if not ignore_live_threads:
                raise RuntimeError(text)
            program_log.info(text)

    def live_threads(self, timeout_secs: float) -> list[threading.Thread]:
        """The registered threads that still run after a time."""
        with self._lock:
            threads = list(self._registered_threads)
        _wait_while_alive(threads, timeout_secs)
        return [thread for thread in threads if thread.is_alive()]

    @property
    def joined(self) -> bool:
        """Whether `join` has ended."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the error that was reported, if there is one."""
        with self._lock:
            if self._error is not None:
                raise self._error


def _wait_while_alive(threads: list[threading.Thread], timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    for thread in threads:
        if thread.is_alive():
            thread.join(max(0.0, deadline - time.monotonic()))


@export("train.LooperThread")
class LooperThread(threading.Thread):
    """A thread that runs a target again and again until its coordinator stops.

    Args:
      coord: the coordinator.
      timer_interval_secs: time from one start of the target to the next; None: at
        once.
      target, args, kwargs: what to call; or override `run_loop`.

    Raises:
      ValueError: bad arguments.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Any = None,
        kwargs: Any = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        if target is None and (args or kwargs):
            raise ValueError(
                "'args' and 'kwargs' argument require that you also pass 'target'"
            )
        super().__init__(daemon=True)
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._loop_target = target
        self._loop_args = args or ()
        self._loop_kwargs = kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:
        """Makes a looper thread and starts it."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """The thread's body."""
        with self._coord.stop_on_exception():
            self.start_loop()
            interval = self._timer_interval_secs
            if interval is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                next_time = time.monotonic()
                while not self._coord.wait_for_stop(
                    max(0.0, next_time - time.monotonic())
                ):
                    next_time += interval
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called before the first turn."""

    def stop_loop(self) -> None:
        """Called after the last turn."""

    def run_loop(self) -> None:
        """One turn."""
        if self._loop_target is not None:
            self._loop_target(*self._loop_args, **self._loop_kwargs)
