"""An executor without a queue."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from tensorloom.framework.runtime import threads


class GrowingExecutor(Executor):
    """Runs every task at once: a call may wait for what another call brings."""

    # What gRPC asks of a ThreadPoolExecutor.
    _max_workers = 2**31

    def submit(
        self, function: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        """Runs a function in a thread of its own."""
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(function(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        threads.start(run)
        return future
