"""What a task does now, as data: the answer to the call `Describe`."""

from __future__ import annotations

import json
import os
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from tensorloom.coordination.lock import locks_of_this_process
from tensorloom.train.checkpoints import checkpoint_management
from tensorloom.transport import traffic
from tensorloom.transport.control import control_methods
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.worker.run.worker_state import worker_state

if TYPE_CHECKING:
    from tensorloom.cluster.renamed_tasks import RenamingMaster
    from tensorloom.worker.run.worker import Worker


def task_state(
    worker: Worker, master: RenamingMaster, address: str, started: float
) -> dict[str, Any]:
    """The state of a task of this process.

    Args:
      address: its `host:port`.
      started: when, as `time.monotonic` says it.

    Returns:
      What the dashboard shows; `steps` are those that the task took part in, as a
      master or for one, `checkpoint` is the newest that its process has saved, at
      `checkpoint_at`, which like `now` is a time of its own clock.
    """
    named = checkpoint_management.last_named
    state = worker_state(worker)
    state["locks"] += locks_of_this_process()
    return {
        "task": worker.task,
        "address": address,
        "process": os.getpid(),
        "up_s": time.monotonic() - started,
        "devices": [
            {
                "name": device.name,
                "type": device.device_type,
                "memory_bytes": device.memory_limit,
                "incarnation": str(device.incarnation),
            }
            for device in worker.devices()
        ],
        "sessions": master.session_facts(),
        "errors": master.failures,
        "sent_bytes": traffic.totals(),
        "sending_s": traffic.seconds(),
        "steps": worker.steps.begun,
        "now": time.time(),
        "checkpoint": named[0] if named else None,
        "checkpoint_at": named[1] if named else None,
        **state,
    }


def describe_task(address: str, timeout_s: float) -> dict[str, Any]:
    """Asks a task elsewhere for its state.

    Raises:
      errors.UnavailableError, errors.DeadlineExceededError: it does not answer.
      errors.UnimplementedError: it is one of TensorFlow.
      errors.PermissionDeniedError: it does not say.
    """
    method = control_methods()["Describe"]
    with closing(GrpcChannel(address.removeprefix("grpc://"))) as channel:
        response = channel.call(method, method.request(), timeout_s)
    state: dict[str, Any] = json.loads(response.value)
    return state
