"""`ProcessEngine`: a model's process, started again when it ends."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.serving.manager.engine import EngineLost

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import StepContext
    from tensorloom.serving.process.model_process import ModelProcess

_logger = logging.getLogger("tensorloom.serving")

# Between two looks whether it answers.
_PING_S: Final = 5.0
# Before it is started again: twice as long each time, while it does not live long.
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 30.0
_LONG_LIFE_S: Final = 60.0


class ProcessEngine:
    """Implements `Engine`. While the process is started again, steps are refused."""

    def __init__(
        self,
        name: str,
        process: ModelProcess,
        start: Callable[[], ModelProcess],
        hang_s: float,
        ended: Callable[[], None],
    ) -> None:
        """Takes over a process that is loaded.

        Args:
          name: of the model, in messages.
          process: runs its steps.
          start: starts another; `wait_loaded` is still to be called.
          hang_s: a process that is silent for so long is ended.
          ended: is called when one has ended that was not to.
        """
        self._name, self._start = name, start
        self._hang_s, self._ended = hang_s, ended
        self._lock = threading.Condition()
        # Runs steps; None while there is none.
        self._process: ModelProcess | None = process
        # The same, or the one that loads.
        self._newest = process
        self._is_closed = threading.Event()
        threading.Thread(
            target=self._follow, args=(process,), name="tensorloom-model", daemon=True
        ).start()

    @property
    def is_up(self) -> bool:
        """As `Engine.is_up`."""
        return self._process is not None

    def wait_up(self, timeout_s: float) -> bool:
        """As `Engine.wait_up`.

        Raises:
          errors.UnavailableError: it is closed.
        """
        is_closed = self._is_closed.is_set
        with self._lock:
            self._lock.wait_for(lambda: self.is_up or is_closed(), timeout_s)
            if is_closed():
                raise errors.UnavailableError(
                    None, None, f"The process of {self._name} was ended"
                )
            return self.is_up

    def resident_bytes(self) -> int:
        """The memory of the process."""
        return self._newest.resident_bytes()

    def run(
        self,
        feeds: tuple[str, ...],
        fetches: tuple[str, ...],
        values: Sequence[Any],
        step: StepContext | None,
    ) -> list[Any]:
        """As `Engine.run`.

        Raises:
          EngineLost: the process ended in this step.
          errors.UnavailableError: it is being started again.
        """
        process = self._process
        if process is None:
            raise errors.UnavailableError(
                None, None, f"The process of {self._name} is being started again"
            )
        try:
            return process.run(feeds, fetches, values, step)
        except EngineLost:
            if process.wait(0):
                self._note_end(process)
            raise

    def _note_end(self, process: ModelProcess) -> None:
        """From now on `wait_up` waits for another one."""
        with self._lock:
            if self._process is process:
                self._process = None

    def close(self) -> None:
        """As `Engine.close`."""
        with self._lock:
            self._is_closed.set()
            self._process = None
            process = self._newest
            self._lock.notify_all()
        process.kill()

    # --- its life --------------------------------------------------------------------

    def _follow(self, process: ModelProcess) -> None:
        pause_s = _FIRST_PAUSE_S
        while True:
            started = time.monotonic()
            self._wait_end(process)
            with self._lock:
                if self._is_closed.is_set():
                    return
                self._process = None
            _logger.error(
                "The process of %s ended (%s), and is started again",
                self._name,
                process.how_it_ended(),
            )
            process.kill()  # what is left of it here
            self._ended()
            if time.monotonic() - started > _LONG_LIFE_S:
                pause_s = _FIRST_PAUSE_S
            found = None
            while found is None:
                if self._is_closed.wait(pause_s):
                    return
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
                found = self._load_again()
            process = found

    def _wait_end(self, process: ModelProcess) -> None:
        while not process.wait(_PING_S):
            if not process.answers(self._hang_s):
                _logger.error("The process of %s is silent, and is ended", self._name)
                process.kill()
                return

    def _load_again(self) -> ModelProcess | None:
        """A process that is loaded; None if that failed."""
        try:
            process = self._start()
        except OSError:
            _logger.exception("A process for %s cannot be started", self._name)
            return None
        with self._lock:
            is_closed = self._is_closed.is_set()
            self._newest = process
        if is_closed:
            process.kill()
            return None
        try:
            process.wait_loaded()
        except (errors.OpError, ValueError) as error:
            if not self._is_closed.is_set():
                _logger.error("Loading %s again failed: %s", self._name, error)
            return None
        with self._lock:
            if not self._is_closed.is_set():
                self._process = process
                self._lock.notify_all()
                return process
        process.kill()
        return None
