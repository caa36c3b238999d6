"""A process's part in the collectives of its group.

Kernels hand in what they have and go on. One thread tells the coordinator what is
ready, all that came meanwhile at once; another runs what the coordinator calls for.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.collective.process_group import ADASUM, Pending, Request
from tensorloom.transport.collectives.coordinator import LARGEST_MESSAGE

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from tensorloom.transport.collectives.data_ring import DataRing


class Engine:
    """Takes requests, and answers them when all processes have made them."""

    def __init__(self, control: Connection, ring: DataRing, rank: int) -> None:
        """Starts the threads.

        Args:
          control: to the coordinator.
          ring: to the other processes.
          rank: this process's.
        """
        self._control = control
        self._ring = ring
        self._rank = rank
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._news = threading.Event()
        self._ready: list[dict[str, Any]] = []
        self._pending: dict[str, tuple[Request, Pending]] = {}
        self._end: str | None = None
        self._threads = [
            threading.Thread(target=target, name=f"collectives-{name}", daemon=True)
            for name, target in (("tell", self._tell), ("run", self._run))
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, request: Request) -> Pending:
        """Takes part in a collective; never waits for the others."""
        pending = Pending()
        with self._lock:
            if self._end is not None:
                pending.fail(errors.UnknownError(None, None, self._end))
            elif request.name in self._pending:
                pending.fail(
                    errors.InvalidArgumentError(
                        None,
                        None,
                        f"Duplicate tensor name '{request.name}': {request.kind} of a "
                        "tensor with the same name as another one that is still being "
                        "processed. Pass another name to the op",
                    )
                )
            else:
                self._pending[request.name] = request, pending
                self._ready.append(_description(request))
        self._news.set()
        return pending

    def close(self) -> None:
        """Leaves the group, and ends the threads."""
        self._send({"leave": True})
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout=30)
        self._fail_all("Horovod has been shut down")
        self._control.close()

    def _tell(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            with self._lock:
                ready, self._ready = self._ready, []
                is_over = self._end is not None
            if is_over:
                return
            if ready:
                self._send({"ready": ready})

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        try:
            with self._sending:
                self._control.send_bytes(data)
        except OSError:
            pass  # the other thread finds the end

    def _run(self) -> None:
        while True:
            try:
                message = json.loads(self._control.recv_bytes(LARGEST_MESSAGE))
            except (EOFError, OSError, ValueError):
                message = {"end": "Horovod has been shut down: rank 0 is gone"}
            if "end" in message:
                self._fail_all(message["end"])
                return
            for name, problem in message.get("failed", {}).items():
                with self._lock:
                    _, pending = self._pending.pop(name)
                pending.fail(errors.FailedPreconditionError(None, None, problem))
            if "run" in message:
                self._carry_out(message["run"])

    def _carry_out(self, called: list[tuple[str, list[int]]]) -> None:
        with self._lock:
            batch = [self._pending.pop(name) for name, _ in called]
        requests = [request for request, _ in batch]
        try:
            results = self._results(requests, called[0][1])
        except Exception as e:  # whatever Gloo raises is for those who wait
            text = f"{requests[0].kind} of {[r.name for r in requests]} failed: {e}"
            for _, pending in batch:
                pending.fail(errors.UnknownError(None, None, text))
            # The others are somewhere in the middle of it: nothing more can be in step.
            self._send({"leave": True})
            return
        if self._rank == 0:  # first, so that the next call comes meanwhile
            self._send({"done": True})
        for (_, pending), result in zip(batch, results, strict=True):
            pending.resolve(result)

    def _results(self, requests: Sequence[Request], rows: list[int]) -> list[Any]:
        first = requests[0]
        if first.kind == "allgather":
            return [self._ring.gather(first.value, rows)]
        if first.kind == "broadcast":
            return [self._ring.broadcast(first.value, first.root)]
        if first.reduction == ADASUM:
            return [self._ring.adaptive_sum(request.value) for request in requests]
        return self._ring.sum([request.value for request in requests])

    def _fail_all(self, reason: str) -> None:
        with self._lock:
            self._end = self._end or reason
            pending = [pending for _, pending in self._pending.values()]
            self._pending.clear()
        for each in pending:
            each.fail(errors.UnknownError(None, None, reason))
        self._news.set()


def _description(request: Request) -> dict[str, Any]:
    value = np.asarray(request.value)
    return {
        "name": request.name,
        "kind": request.kind,
        "dtype": value.dtype.name,
        "shape": list(value.shape),
        "bytes": value.nbytes,
        "reduction": request.reduction,
        "root": request.root,
    }
