"""A hook that ends a session after so many seconds."""

from __future__ import annotations

import time

from tensorloom.train.hooks.session_run_hook import (
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


class StopAtSecsHook(SessionRunHook):
    """Ends a session after so many seconds."""

    def __init__(self, stop_after_secs: float) -> None:
        self._stop_after_secs = stop_after_secs
        self._start_time = 0.0

    def begin(self) -> None:
        """Starts the clock."""
        self._start_time = time.time()

    def after_run(
        self, run_context: SessionRunContext, run_values: SessionRunValues
    ) -> None:
        """Looks at it."""
        if time.time() - self._start_time >= self._stop_after_secs:
            run_context.request_stop()
