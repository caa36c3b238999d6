"""`slim.queues`: the threads of queues as a context."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, get_collection
from tensorloom.train.inputs.coordinator import Coordinator

_LOCK: Final = threading.Lock()


@export("contrib.slim.queues.NestedQueueRunnerError")
class NestedQueueRunnerError(Exception):
    """The threads of queues run already."""


@export("contrib.slim.queues.QueueRunners")
@contextmanager
def QueueRunners(session: Any) -> Iterator[None]:
    """Runs the threads of all queues of the graph while the context lasts.

    Args:
      session: where they run. It is closed where they do not end within two minutes.

    Raises:
      NestedQueueRunnerError: such a context is open already.
    """
    if not _LOCK.acquire(blocking=False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    try:
        coordinator = Coordinator()
        threads: list[threading.Thread] = []
        for runner in get_collection(GraphKeys.QUEUE_RUNNERS):
            threads += runner.create_threads(
                session, coord=coordinator, daemon=True, start=True
            )
        try:
            yield
        finally:
            coordinator.request_stop()
            try:
                coordinator.join(threads, stop_grace_period_secs=120)
            except RuntimeError:
                session.close()
    finally:
        _LOCK.release()
