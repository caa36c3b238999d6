"""Calls that steer other tasks: stop or start one, or tell it who joined or left."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.runtime import threads
from tensorloom.train.cluster_spec import ClusterSpec
from tensorloom.transport.control import control_methods
from tensorloom.transport.grpc.channel import GrpcChannel

if TYPE_CHECKING:
    from tensorloom.transport.interface import Call, Handlers


@export("train.stop_server")
def stop_server(address: str, reason: str = "", timeout_s: float = 10.0) -> None:
    """Ends a tensorloom task elsewhere: its `Server.join` returns.

    Args:
      address: `host:port`, or a target `grpc://host:port`.
      reason: for its log.
      timeout_s: how long to wait for its answer.

    Raises:
      errors.UnavailableError: nobody answers there.
      errors.UnimplementedError: a task of TensorFlow does.
      errors.PermissionDeniedError: the task does not let others stop it.
    """
    _call(address, "Shutdown", timeout_s, value=reason)


@export("train.update_server")
def update_server(address: str, cluster: Any, timeout_s: float = 10.0) -> None:
    """Tells a tensorloom task of other tasks; see `Server.update_cluster`.

    Raises:
      errors.OpError: as `stop_server`.
    """
    job = ClusterSpec(cluster).as_cluster_def().job
    _call(address, "UpdateCluster", timeout_s, job=job)


def start_task(
    address: str, cluster: ClusterSpec, job: str, index: int, timeout_s: float
) -> str:
    """Has a tensorloom task start another one beside itself; returns its `host:port`.

    Raises:
      errors.OpError: as `stop_server`.
    """
    response = _call(
        address,
        "StartTask",
        timeout_s,
        cluster=cluster.as_cluster_def(),
        job_name=job,
        task_index=index,
    )
    return str(response.value)


def _call(address: str, name: str, timeout_s: float, **fields: Any) -> Any:
    method = control_methods()[name]
    with closing(GrpcChannel(address.removeprefix("grpc://"))) as channel:
        return channel.call(method, method.request(**fields), timeout_s)


def control_handlers(
    stop: Callable[[str], None] | None,
    update: Callable[[ClusterSpec], None] | None,
    start: Callable[[ClusterSpec, str, int], str] | None,
    describe: Callable[[], dict[str, Any]] | None = None,
) -> Handlers:
    """What answers the calls; None for what is not allowed from outside."""
    methods = control_methods()

    def shutdown(request: Any, call: Call) -> Any:
        if stop is None:
            raise _denied("stopped")
        reason = request.value
        threads.start(lambda: stop(reason))  # the answer is on its way meanwhile
        return methods["Shutdown"].response()

    def update_cluster(request: Any, call: Call) -> Any:
        if update is None:
            raise _denied("told of other tasks")
        update(ClusterSpec(request))
        return methods["UpdateCluster"].response()

    def start_task(request: Any, call: Call) -> Any:
        if start is None:
            raise _denied("made to start others")
        cluster = ClusterSpec(request.cluster)
        address = start(cluster, request.job_name, request.task_index)
        return methods["StartTask"].response(value=address)

    def tell_state(request: Any, call: Call) -> Any:
        if describe is None:
            raise _denied("looked into")
        return methods["Describe"].response(value=json.dumps(describe()))

    answers = {
        "Describe": tell_state,
        "Shutdown": shutdown,
        "UpdateCluster": update_cluster,
        "StartTask": start_task,
    }
    return {methods[name]: answer for name, answer in answers.items()}


def _denied(what: str) -> errors.OpError:
    return errors.PermissionDeniedError(
        None, None, f"This task cannot be {what} from outside"
    )
