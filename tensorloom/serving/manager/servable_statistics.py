"""What a version has done since it was loaded."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class Duration:
    """How often something was done, and the time of all together."""

    count: int = 0
    ns: int = 0

    def add(self, seconds: float, count: int = 1) -> None:
        """It was done again."""
        self.count += count
        self.ns += int(seconds * 1e9)


@dataclass(slots=True)
class ServableStatistics:
    """Counters; any thread adds to them."""

    success: Duration = field(default_factory=Duration)
    fail: Duration = field(default_factory=Duration)
    #: Waiting for a batch to start.
    queue: Duration = field(default_factory=Duration)
    #: Steps by their rows; 0 rows: what has none.
    steps: dict[int, Duration] = field(default_factory=dict)
    #: `time.time()` of the last request.
    last: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def request(self, seconds: float, is_good: bool) -> None:
        """A request has ended."""
        with self._lock:
            (self.success if is_good else self.fail).add(seconds)
            self.last = time.time()

    def step(self, rows: int, seconds: float) -> None:
        """A step has run."""
        with self._lock:
            self.steps.setdefault(rows, Duration()).add(seconds)

    def waited(self, seconds: float, count: int) -> None:
        """So many requests have waited for their batch."""
        with self._lock:
            self.queue.add(seconds, count)

    def steps_by_rows(self) -> list[tuple[int, Duration]]:
        """The steps, those with the fewest rows first."""
        with self._lock:
            return sorted(self.steps.items())
