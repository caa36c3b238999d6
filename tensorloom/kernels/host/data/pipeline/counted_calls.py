"""Statistics of the calls that a dataset makes of its function."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from tensorloom.kernels.host.data.pipeline.dataset import DatasetIterator, Element

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.kernels.host.data.pipeline.environment import Environment
    from tensorloom.kernels.host.data.pipeline.statistics import Statistics

    _Function = Callable[[Environment, Element], Element]


class CountedCalls:
    """How long each call takes, and how many of the threads are busy."""

    def __init__(
        self, statistics: Statistics, calls: str, name: str, threads: int
    ) -> None:
        self._statistics, self._calls, self._name = statistics, calls, name
        self._threads = threads
        self._lock = threading.Lock()
        self._active = self._count = 0

    def timed(self, function: _Function) -> _Function:
        """The function; its calls are counted."""

        def apply(env: Environment, element: Element) -> Element:
            with self._lock:
                self._active += 1
            begin = time.perf_counter_ns()
            try:
                return function(env, element)
            finally:
                duration = (time.perf_counter_ns() - begin) // 1000
                with self._lock:
                    self._active -= 1
                    self._count += 1
                self._statistics.add_to_histogram(
                    f"{self._calls}::execution_time", duration, self._count
                )

        return apply

    def tell(self) -> None:
        """Tells what part of the threads is busy."""
        self._statistics.set_scalar(
            f"{self._name}::thread_utilization",
            self._active / self._threads,
            self._count,
        )


class CountedIterator(DatasetIterator):
    """Tells how busy the threads are whenever an element is taken."""

    def __init__(self, source: DatasetIterator, calls: CountedCalls) -> None:
        self._source, self._calls = source, calls

    def __next__(self) -> Element:
        element = next(self._source)
        self._calls.tell()
        return element
