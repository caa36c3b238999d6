"""A thread whose failure is the failure of the test that joins it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class CheckedThread:
    """Runs a function; `join` raises what it raised.

    Args:
      target: what to call.
      args, kwargs: its arguments.
    """

    def __init__(
        self, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> None:
        self._target = target
        self._args = args or ()
        self._kwargs = kwargs or {}
        self._error: BaseException | None = None
        self._joined = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self._target(*self._args, **self._kwargs)
        except BaseException as error:
            self._error = error

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether it runs still."""
        return self._thread.is_alive()

    def join(self) -> None:
        """Waits for it.

        Raises:
          AssertionError: the function raised.
        """
        self._joined = True
        self._thread.join()
        if self._error is not None:
            raise AssertionError(
                f"Error in checkedThread: {self._error}"
            ) from self._error

    def check_termination(self) -> None:
        """Checks that the test joined it: what it raised is heard of in no other way.

        Raises:
          AssertionError: nobody joined it.
        """
        if not self._joined:
            raise AssertionError("A checked thread was not joined.")
