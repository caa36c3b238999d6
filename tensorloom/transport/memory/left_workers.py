"""Ends UCX workers whose connection has ended.

UCX never lets go of a worker whose endpoint is closed while it is sending. So UCX is to
see first that the other end, which is closed as well, is gone.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Final

from tensorloom.framework.runtime import threads

# At the end so long is waited for UCX to let go of what was under way.
_SETTLE_S: Final = 0.1
# What was left then is looked at so often. ...
_TEND_S: Final = 1.0
# ... After so long nobody waits for it any more.
_FORGOTTEN_S: Final = 300.0


class LeftWorker:
    """A worker that was left, perhaps in the middle of a body."""

    def __init__(
        self,
        worker: Any,
        endpoint: Any,
        sent: list[tuple[Any, Any]],
        received: list[tuple[Any, Any]],
    ) -> None:
        """Takes a worker over, with requests and their memory."""
        self._worker = worker
        self._endpoint = endpoint
        self._sent = sent
        self._received = received
        self._since = time.monotonic()

    @property
    def is_sending(self) -> bool:
        """Whether UCX has not yet let go of what was sent."""
        return not all(request.completed for request, _ in self._sent)

    @property
    def is_over(self) -> bool:
        """Whether it can be closed, or has to be."""
        return not self.is_sending or time.monotonic() > self._since + _FORGOTTEN_S

    def settle(self, limit_s: float) -> None:
        """Waits a little for the end of what was sent."""
        over = time.monotonic() + limit_s
        while True:
            while self._worker.progress():
                pass
            if not self.is_sending or time.monotonic() >= over:
                return
            time.sleep(0.001)

    def close(self, tells_errors: bool = True) -> None:
        """Ends the worker, with all that is registered."""
        # One that UCX has closed itself must not be closed again.
        if self._endpoint is not None and self._endpoint.alive:
            # With error handling it is done at once, else it waits for the other.
            if tells_errors:
                self._endpoint.close_blocking()
            else:
                self._endpoint.close()
        while self._worker.progress():
            pass
        del self._endpoint, self._worker
        self._sent.clear()
        self._received.clear()


_lock: Final = threading.Lock()
_all_left: Final[list[LeftWorker]] = []


def leave(
    worker: Any,
    endpoint: Any,
    tells_errors: bool,
    sent: list[tuple[Any, Any]],
    received: list[tuple[Any, Any]],
) -> None:
    """Closes a worker, now or when UCX has seen that the other end is gone.

    Args:
      worker: nobody else uses it.
      endpoint: its only one, or None.
      tells_errors: whether UCX notices when the other end is gone.
      sent: requests that may be under way, with their memory.
      received: the same.
    """
    left = LeftWorker(worker, endpoint, sent, received)
    left.settle(_SETTLE_S)
    if not tells_errors or not left.is_sending:
        left.close(tells_errors)
        return
    with _lock:
        _all_left.append(left)
        if len(_all_left) == 1:
            threads.start(_tend)


def _tend() -> None:
    while True:
        time.sleep(_TEND_S)
        with _lock:
            for left in list(_all_left):
                left.settle(0.0)
                if left.is_over:
                    _all_left.remove(left)
                    left.close()
            if not _all_left:
                return
