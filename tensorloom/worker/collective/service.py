"""What other tasks ask of this one for collectives: WorkerService's four methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.cancellation import CancellationManager
from tensorloom.framework.runtime.rendezvous_key import (
    parse_rendezvous_key,
    rendezvous_key,
)
from tensorloom.transport.wire import status
from tensorloom.transport.wire.methods import worker_methods
from tensorloom.worker.collective.groups import Terms
from tensorloom.worker.run.runtime import received_host

if TYPE_CHECKING:
    from tensorloom.framework.collective.process_group import Pending
    from tensorloom.transport.interface import Call
    from tensorloom.transport.wire.request_ids import RecentRequests
    from tensorloom.worker.collective.groups import Group
    from tensorloom.worker.run.worker import Worker

# Bytes of one chunk of a reply: a message with one long one stalls TensorFlow's gRPC.
_CHUNK: Final = 1 << 20


class CollectiveService:
    """Answers `CompleteGroup`, `CompleteInstance`, `GetStepSequence`, `RecvBuf`."""

    def __init__(self, worker: Worker, requests: RecentRequests) -> None:
        """Takes the worker, and the ids of the requests that it has seen."""
        assert worker.collectives is not None
        self._worker = worker
        self._of_task = worker.collectives
        self._requests = requests
        self._incarnations = {d.name: d.incarnation for d in worker.devices()}

    def complete_group(self, request: Any, call: Call) -> Any:
        """Takes a member into a group; answers when all have come."""
        if not request.device_name:
            raise errors.InvalidArgumentError(
                None, None, "CompleteGroup of a group names no device that joins it"
            )
        group = self._group(request, request.device_name[0], call)
        return worker_methods()["CompleteGroup"].response(
            group_key=group.key,
            group_size=group.size,
            device_type=group.device_type,
            num_tasks=len(group.tasks),
            device_name=group.joined,
            task_name=[device.partition("/device:")[0] for device in group.joined],
        )

    def _group(self, request: Any, device: str, call: Call) -> Group:
        pending = self._of_task.groups.join(
            request.group_key, request.group_size, request.device_type, device
        )
        group: Group = _waited(pending, call)
        return group

    def complete_instance(self, request: Any, call: Call) -> Any:
        """Compares a member's terms with those of others; says who broadcasts."""
        group = self._group(request, request.device, call)
        terms = Terms(
            request.type,
            request.data_type,
            tuple(dim.size for dim in request.shape.dim),
            request.group_key,
        )
        pending = self._of_task.instances.complete(
            group,
            request.instance_key,
            terms,
            request.device,
            request.is_source,
            request.step_id,
        )
        return worker_methods()["CompleteInstance"].response(
            instance_key=request.instance_key, source_rank=_waited(pending, call)
        )

    def get_step_sequence(self, request: Any, call: Call) -> Any:
        """The id of the next step of graphs.

        Of one that has failed, or in which the asking task was before it was restarted,
        another.
        """
        response = worker_methods()["GetStepSequence"].response()
        for key in request.graph_key:
            if request.failed_step_id:
                self._of_task.renew(key, request.failed_step_id, request.task)
            if request.task:
                self._of_task.meet(key, request.task, request.incarnation)
            step_id = self._of_task.sequences.begin(key)
            response.step_sequence.add(graph_key=key, next_step_id=step_id)
        return response

    def recv_buf(self, request: Any, call: Call) -> Any:
        """Gives a piece of a collective; a caller that hangs up ends the wait."""
        from tensorloom.protos.transport_options_pb2 import RecvBufRespExtra

        self._requests.check(request.request_id, "RecvBuf (Worker)")
        self._check_source(request.src_device, request.src_incarnation)
        key = rendezvous_key(
            request.src_device,
            request.src_incarnation,
            request.dst_device,
            request.buf_rendezvous_key,
        )
        parse_rendezvous_key(key)  # it comes from who knows whom
        content = self._piece(request.step_id, key, call)
        extra = RecvBufRespExtra()
        for start in range(0, len(content), _CHUNK):
            extra.tensor_content.append(content[start : start + _CHUNK])
        response = worker_methods()["RecvBuf"].response(num_bytes=len(content))
        response.transport_options.Pack(extra)
        return response

    def _piece(self, step_id: int, key: str, call: Call) -> bytes:
        done = concurrency.Event()
        result: list[Any] = []

        def receive(value: Any, is_dead: bool | None) -> None:
            result[:] = (value, is_dead)
            done.set()

        self._worker.steps.rendezvous(step_id).recv_async(key, receive)
        call.on_cancel(done.set)
        done.wait()
        if not result:
            raise errors.CancelledError(None, None, "The receiver gave up")
        value, is_dead = result
        if is_dead is None:
            raise status.derived(value)
        piece = np.asarray(received_host(value))
        if piece.dtype.hasobject:  # its bytes would be addresses
            raise errors.InvalidArgumentError(
                None, None, f"What {key} names has no bytes to send: {piece.dtype}"
            )
        return np.ascontiguousarray(piece).tobytes()

    def _check_source(self, device: str, incarnation: int) -> None:
        known = self._incarnations.get(device)
        if known is None:
            raise errors.InvalidArgumentError(
                None, None, f"{device} is no device of {self._worker.task}"
            )
        if known & 0xFFFFFFFFFFFFFFFF != incarnation:
            raise errors.FailedPreconditionError(
                None,
                None,
                f"RecvBuf expects a different device incarnation: {incarnation} vs. "
                f"{known & 0xFFFFFFFFFFFFFFFF}. Your worker job that contains the "
                f'device ("{device}") was probably restarted. Check your worker job '
                "for the reason why it was restarted.",
            )


def _waited(pending: Pending, call: Call) -> Any:
    """The result, unless the caller hangs up before."""
    cancellation = CancellationManager()
    gone = errors.CancelledError(None, None, "The caller gave up")
    call.on_cancel(lambda: cancellation.cancel(gone))
    return pending.result(cancellation)
