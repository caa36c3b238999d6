"""Tensors that cross between this task and its peers, for the steps of the worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.devices import device_name
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.rendezvous_key import parse_rendezvous_key
from tensorloom.transport.wire import status, tensors
from tensorloom.transport.wire.methods import worker_methods
from tensorloom.worker.run.runtime import received_host

if TYPE_CHECKING:
    from tensorloom.transport.interface import Call
    from tensorloom.transport.wire.request_ids import RecentRequests
    from tensorloom.transport.wire.value_methods import Push, Sent
    from tensorloom.worker.run.rendezvous import Receiver
    from tensorloom.worker.run.worker import Worker


class PeerTensors:
    """What peers ask of a step's rendezvous, and what they push into it.

    A `PushedHandler` (`transport/wire/value_methods.py`). Thread-safe.
    """

    def __init__(self, worker: Worker, requests: RecentRequests) -> None:
        """Takes the worker, and the ids of the requests that it has seen."""
        self._worker = worker
        self._requests = requests
        self._incarnations = {d.name: d.incarnation for d in worker.devices()}

    def recv_tensor(self, request: Any, call: Call) -> Any:
        """Answers TensorFlow's `RecvTensor`; a caller that hangs up ends the wait."""
        self._requests.check(request.request_id, "RecvTensor (Worker)")
        key: str = request.rendezvous_key
        self._check_source(key)
        rendezvous = self._worker.steps.rendezvous(request.step_id)
        done = concurrency.Event()
        result: list[Any] = []

        def receive(value: Any, is_dead: bool | None) -> None:
            result[:] = (value, is_dead)
            done.set()

        rendezvous.recv_async(key, receive)
        call.on_cancel(done.set)
        done.wait()
        if not result:
            raise errors.CancelledError(None, None, "The receiver gave up")
        value, is_dead = result
        if is_dead is None:
            raise status.derived(value)
        response = worker_methods()["RecvTensor"].response(is_dead=is_dead)
        dtype = rendezvous.dtype_of(key)
        tensors.encode(received_host(value), response.tensor, dtype)
        return response

    def send_tensors(self, step_id: int, keys: Sequence[str], push: Push) -> None:
        """Answers a peer that waits for tensors of a step."""
        for key in keys:
            try:
                self._check_source(key)
                rendezvous = self._worker.steps.rendezvous(step_id)
            except errors.OpError as error:
                push(step_id, key, None, False, error)
                continue
            rendezvous.recv_async(key, _pusher(step_id, key, push))

    def take_pushed(self, step_id: int, tensors: Sequence[Sent]) -> None:
        """Takes tensors that a peer pushed; a step that is over needs them no more."""
        self._worker.take_pushed(step_id, tensors)

    def take_failure(self, step_id: int, error: errors.OpError) -> None:
        """Hears that a peer's part of a step has failed: ours fails too."""
        self._worker.steps.fail(step_id, error)

    def lose_pusher(self, task: str) -> None:
        """Hears that what a task pushed last may not have come."""
        self._worker.steps.lose(task)

    def _check_source(self, key: str) -> None:
        source, incarnation, _, _, _ = parse_rendezvous_key(key)
        known = self._incarnations.get(source)
        if known is None:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"RecvTensor expects the source device '{source}' to be one of "
                f"{self._worker.task}",
            )
        if known & 0xFFFFFFFFFFFFFFFF != incarnation:
            raise errors.AbortedError(
                None,
                None,
                f"RecvTensor expects a different device incarnation: {incarnation} vs. "
                f"{known & 0xFFFFFFFFFFFFFFFF}. Your worker job "
                f'("{device_name.task_of(source)}") was probably restarted. Check your '
                "worker job for the reason why it was restarted.",
            )


def _pusher(step_id: int, key: str, push: Push) -> Receiver:
    def receive(value: Any, is_dead: bool | None) -> None:
        if is_dead is None:
            push(step_id, key, None, False, status.derived(value))
        else:
            push(step_id, key, received_host(value), is_dead, None)

    return receive
