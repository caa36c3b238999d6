"""Partial runs on a worker: feeds come, and fetches go, while the graph runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.runtime import concurrency, threads
from tensorloom.transport.wire import tensors
from tensorloom.worker.run.runtime import received_host

if TYPE_CHECKING:
    from tensorloom.worker.run.registered_graph import RegisteredGraph
    from tensorloom.worker.run.worker import Worker


class _Run:
    """A graph that was started by the first call of a partial run."""

    def __init__(self) -> None:
        self.ended = concurrency.Event()
        self.error: Exception | None = None


class PartialSteps:
    """The partial runs of one worker, by step id."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._lock = concurrency.Lock()
        self._runs: dict[int, _Run] = {}

    def advance(self, graph: RegisteredGraph, request: Any, response: Any) -> None:
        """One call of a partial run: `send`s in, `recv_key`s out.

        Raises:
          errors.OpError: the run failed.
        """
        step_id: int = request.step_id
        rendezvous = self._worker.steps.rendezvous(step_id)
        for named in request.send:
            rendezvous.send(named.name, tensors.decode(named.tensor))
        run = self._started(graph, step_id)
        for key in request.recv_key:
            value = rendezvous.recv(key)
            tensors.encode(
                received_host(value),
                response.recv.add(name=key).tensor,
                rendezvous.dtype_of(key),
            )
        if request.is_last_partial_run:
            run.ended.wait()
            self.forget(step_id)
        if run.error is not None:
            raise run.error

    def _started(self, graph: RegisteredGraph, step_id: int) -> _Run:
        with self._lock:
            run = self._runs.get(step_id)
            if run is not None:
                return run
            run = self._runs[step_id] = _Run()
        threads.start(lambda: self._execute(graph, step_id, run))
        return run

    def _execute(self, graph: RegisteredGraph, step_id: int, run: _Run) -> None:
        try:
            graph.run([], StepContext(StepOptions(), step_id=step_id))
        except Exception as error:
            run.error = error
            cause = (
                error
                if isinstance(error, errors.OpError)
                else errors.InternalError(None, None, str(error))
            )
            self._worker.abort_step(step_id, cause)
        finally:
            run.ended.set()

    def forget(self, step_id: int) -> None:
        """Drops a run that is over."""
        with self._lock:
            self._runs.pop(step_id, None)
