"""How the commands that run until they are told to stop hear of it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any


def stop_at_signals(stop: Callable[[], None]) -> None:
    """Has SIGTERM and SIGINT call `stop`, each in a thread of its own.

    The thread of the handler may hold what the command waits for.
    """
    from tensorloom.framework.runtime import threads

    def handle(number: int, frame: Any) -> None:
        threads.start(stop)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle)
