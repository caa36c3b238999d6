"""Workers that are there from the start, as in local mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorloom.framework.interfaces import WorkerInterface
    from tensorloom.framework.runtime.session_config import SessionConfig


class FixedWorkers:
    """Implements `WorkerDirectory` over a list; the first is the master's own task."""

    def __init__(self, workers: Sequence[WorkerInterface]) -> None:
        self._workers = list(workers)

    def for_session(self, config: SessionConfig) -> Sequence[WorkerInterface]:
        """All of them."""
        return self._workers

    def known(self) -> Sequence[WorkerInterface]:
        """All of them."""
        return self._workers

    @property
    def collectives(self) -> None:
        """None: collectives meet within the process."""
        return None
