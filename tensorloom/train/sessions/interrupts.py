"""Ctrl-C ends a training between two steps, not within one.

Python hears it anywhere: some variables would be updated, and others not, in the
checkpoint that is saved then. In TensorFlow a step is one call, which ends first.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from tensorloom.client.program import program_log

T = TypeVar("T")

# A step may wait for input that never comes.
_LONGEST_WAIT_SECS = 10.0


class StepGuard:
    """Hears Ctrl-C in place of Python while sessions are open in the main thread.

    A handler that the program has set is left alone.
    """

    def __init__(self) -> None:
        self._sessions = 0
        # The thread whose steps are guarded; None: no handler of ours is set.
        self._thread: int | None = None
        self._in_step = False
        self._timer: threading.Timer | None = None

    def open(self) -> None:
        """A session is open."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._sessions += 1
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._thread = threading.get_ident()

    def close(self) -> None:
        """A session is closed; the last one gives Python its handler back."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._sessions = max(0, self._sessions - 1)
        if self._sessions == 0 and self._thread is not None:
            self._thread = None
            if signal.getsignal(signal.SIGINT) == self._handle:
                signal.signal(signal.SIGINT, signal.default_int_handler)

    def run(self, step: Callable[..., T], *args: Any) -> T:
        """Runs a step to its end, and raises then.

        Raises:
          KeyboardInterrupt: Ctrl-C was pressed meanwhile.
        """
        if self._in_step or threading.get_ident() != self._thread:
            return step(*args)
        self._in_step = True
        try:
            return step(*args)
        finally:
            self._in_step = False
            timer, self._timer = self._timer, None
            if timer is not None:
                timer.cancel()
                raise KeyboardInterrupt

    def _handle(self, number: int, frame: Any) -> None:
        if not self._in_step or self._timer is not None:
            signal.default_int_handler(number, frame)
        program_log.warning(
            "Interrupted: the step that runs ends first. Once more ends it at once."
        )
        self._timer = threading.Timer(
            _LONGEST_WAIT_SECS, signal.pthread_kill, [self._thread, signal.SIGINT]
        )
        self._timer.daemon = True
        self._timer.start()


GUARD = StepGuard()
