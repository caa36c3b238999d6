"""`tf.train.Server`: one task of a cluster, in this process."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.cluster import local, membership
from tensorloom.cluster.control import control_handlers
from tensorloom.cluster.directory import ClusterDirectory, wait_limit_s
from tensorloom.cluster.renamed_tasks import RenamingMaster
from tensorloom.cluster.server_def import (
    make_server_def,
    own_address,
    tasks_on_this_machine,
)
from tensorloom.cluster.task_state import task_state
from tensorloom.devices.device import make_devices
from tensorloom.framework import errors
from tensorloom.framework.collective import op_keys
from tensorloom.framework.export import export
from tensorloom.framework.registry.op_policy import OpPolicy
from tensorloom.framework.runtime import session_config
from tensorloom.master.run.master_service import MasterService
from tensorloom.train.cluster_spec import ClusterSpec
from tensorloom.transport.grpc import stream_server
from tensorloom.transport.grpc.server import GrpcServer
from tensorloom.transport.memory import ucx
from tensorloom.transport.negotiated import NegotiatedChannel, only_grpc
from tensorloom.transport.peers import host_port, security
from tensorloom.transport.peers.liveness import task_timeout_s
from tensorloom.transport.sockets import address as socket_address
from tensorloom.transport.sockets.frame_answers import FrameAnswers
from tensorloom.transport.sockets.server import SocketServer
from tensorloom.worker.collective.task_collectives import TaskCollectives
from tensorloom.worker.run import torch_threads
from tensorloom.worker.run.worker import Worker
from tensorloom.worker.run.worker_service import WorkerService

if TYPE_CHECKING:
    import socket

#: Sessions of clients that say nothing for so many seconds are closed; 0, and by
#: default: never. Clients of our own kind say when they are gone, and need no limit.
IDLE_VARIABLE: Final = "TENSORLOOM_SESSION_IDLE_S"
_GARBAGE_PERIOD_S: Final = 30.0
# Of servers that are clusters of their own.
_LOCAL_JOB: Final = "local"
# Who stops a task from outside gets an answer.
_LAST_WORDS_S: Final = 1.0

# The servers of this process by port: their sessions need no network.
_running: weakref.WeakValueDictionary[int, Server] = weakref.WeakValueDictionary()


@export("train.Server", "distribute.Server")
class Server:
    """A task: a master for clients, and a worker for masters.

        server = tf.train.Server(cluster, job_name="worker", task_index=0)
        with tf.Session(server.target) as sess: ...

    It listens on loopback if its address in the cluster is there, else on all
    interfaces.
    """

    _beside: Worker | None = None

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
        *,
        deny_ops: Sequence[str] = (),
    ) -> None:
        """Makes a task, and starts it unless `start` is false.

        Args:
          server_or_cluster_def: a `ServerDef`, `ClusterDef`, `ClusterSpec`, or what a
            `ClusterSpec` is made of.
          job_name, task_index: which task this is; may be left out where the
            `ServerDef` says it or the cluster has one task alone.
          protocol: "grpc", also if None; "grpc+ucx" for large tensors over UCX (RDMA)
            between machines whose tasks all have it.
          config: a `tf.ConfigProto` for the devices of the task.
          start: whether to answer at once.
          deny_ops: ops that are not run for clients: their names, patterns such as
            `*PyFunc*`, or `safe` for all that reach files, the network or Python.
            Such a server cannot be stopped from outside either, and connects to
            no task that clients name: only to those of its cluster.

        Raises:
          TypeError, ValueError: an argument is not usable.
          errors.InvalidArgumentError: the task is not in the cluster, or an address of
            it is no `host:port`.
          errors.NotFoundError: nobody speaks the protocol.
          ImportError: UCX is asked for, and not installed.
          errors.UnknownError: the address cannot be listened on.
          errors.UnavailableError: TENSORLOOM_COORDINATION names a lock service that
            does not answer.
        """
        self._server_def = make_server_def(
            server_or_cluster_def, job_name, task_index, protocol, config
        )
        server_def = self._server_def
        if server_def.protocol not in ("grpc", "grpc+loom", "grpc+ucx"):
            raise errors.NotFoundError(
                None,
                None,
                f"No server factory registered for the given ServerDef: {server_def}\n"
                "The available server factories are: [ GRPC_SERVER ]",
            )
        if server_def.protocol == "grpc+ucx":
            ucx.enable()
        ucx.enable_if_asked()
        cluster = ClusterSpec(server_def.cluster)
        self._host, port = own_address(cluster, server_def)
        for address in cluster.addresses().values():
            host_port.parse(address)
        self._listens_on = "0.0.0.0" if self._is_public else self._host
        self._address = host_port.join(self._listens_on, port)
        self._task = (
            f"/job:{server_def.job_name}/replica:0/task:{server_def.task_index}"
        )
        self._policy = OpPolicy(deny_ops)
        self._started = False
        self._made_at = time.monotonic()
        self._stopping = threading.Lock()
        self._stopped = threading.Event()
        self._session_tasks: list[Server] = []  # see `renamed_tasks.py`
        self._membership: membership.Membership | None = None
        self._make_task(cluster, server_def)
        if start:
            self.start()

    def _make_task(self, cluster: ClusterSpec, server_def: Any) -> None:
        self._own_address = cluster.task_address(
            server_def.job_name, server_def.task_index
        )
        torch_threads.share_cores(tasks_on_this_machine(cluster, server_def))
        config = session_config.from_proto(server_def.default_session_config)
        devices = make_devices(self._task, config.device_count, config.device_options())
        self._directory = ClusterDirectory(
            self._task,
            cluster.addresses(),
            NegotiatedChannel,
            wait_limit_s(),
            self._policy.is_open,
        )
        collectives = TaskCollectives(
            self._task,
            self._directory,
            {device.name: device.incarnation for device in devices},
            config.collective_group_leader,
        )
        self._worker = Worker(
            self._task, devices, self._directory, self._beside, collectives
        )
        self._directory.set_own_worker(self._worker)
        self._master = RenamingMaster(
            self._directory,
            local.environment(),
            config,
            own_task=self._task,
            start_here=self._start_beside,
            wait_s=wait_limit_s(),
        )
        self._masters = MasterService(self._master, self._task, self._policy)
        sockets = self._listen_on_sockets()
        stream_endpoint = stream_server.new_endpoint()
        workers = WorkerService(
            self._worker,
            [*(endpoint for _, endpoint in sockets), stream_endpoint],
            self._policy,
            lambda cluster_def: self._directory.learn(ClusterSpec(cluster_def)),
        )
        is_open = self._policy.is_open
        control = control_handlers(
            (lambda reason: self.stop(_LAST_WORDS_S)) if is_open else None,
            self._directory.update if is_open else None,
            self._start_for_session if is_open else None,
            self.describe if is_open else None,
        )
        handlers = {**self._masters.handlers(), **workers.handlers(), **control}
        values = {**self._masters.value_handlers(), **workers.value_handlers()}
        peers = workers.peer_tensors
        answers = FrameAnswers(handlers, values, peers.send_tensors, peers)
        streams = stream_server.StreamServer(stream_endpoint, answers)
        try:
            self._server = GrpcServer(handlers, self._address, streams=streams)
        except Exception:
            for listener, _ in sockets:
                listener.close()
            raise
        self._master.own_address = self.address
        self._socket_servers = [
            SocketServer(listener, answers, security.token()) for listener, _ in sockets
        ]

    def _start_beside(self, cluster: ClusterSpec, job: str, index: int) -> Server:
        """A further task in this process, for one session: it knows itself alone.

        Raises:
          errors.PermissionDeniedError: this task does not run all ops.
        """
        if not self._policy.is_open:
            message = f"{self._task} starts no tasks for the clusters of its clients"
            raise errors.PermissionDeniedError(None, None, message)
        address = host_port.join(self._host, 0)
        config = self._server_def.default_session_config
        started = _SessionTask(self._worker, address, job, index, config)
        running = [task for task in self._session_tasks if not task.is_stopped]
        self._session_tasks = [*running, started]
        return started

    def _start_for_session(self, cluster: ClusterSpec, job: str, index: int) -> str:
        """Starts a task for a session of another's; returns its address."""
        started = self._start_beside(cluster, job, index)
        return started.address

    @property
    def is_stopped(self) -> bool:
        """Whether the task has ended."""
        return self._stopped.is_set()

    def _listen_on_sockets(self) -> list[tuple[socket.socket, str]]:
        """The listeners for our own tasks, with their endpoints."""
        if only_grpc():
            return []
        sockets = [socket_address.listen_locally()]
        # Between hosts only those are heard that know the token; what they say is
        # not encrypted, so with TLS there is gRPC alone.
        if self._is_public and security.token() and security.tls() is None:
            sockets.append(socket_address.listen_on(self._listens_on, self._host))
        return sockets

    @property
    def _is_public(self) -> bool:
        return not host_port.is_loopback(self._host)

    @property
    def server_def(self) -> Any:
        """The `ServerDef` of the task."""
        return self._server_def

    @property
    def target(self) -> str:
        """What a session of this process or another takes: `grpc://localhost:PORT`."""
        host = "localhost" if self._is_public else self._host
        return f"grpc://{host_port.join(host, self._server.port)}"

    @property
    def address(self) -> str:
        """Where other tasks find it: `host:port`."""
        return host_port.join(self._host, self._server.port)

    @property
    def master(self) -> RenamingMaster:
        """The task's master, for sessions of this process."""
        return self._master

    def start(self) -> None:
        """Begins to answer; once started, does nothing.

        Raises:
          errors.FailedPreconditionError: the server was stopped.
        """
        if self._stopped.is_set():
            raise errors.FailedPreconditionError(
                None, None, "A stopped server cannot be started again"
            )
        if not self._started:
            self._started = True
            for server in self._socket_servers:
                server.start()
            self._server.start()
            _running[self._server.port] = self
            self._join_job()
            threading.Thread(
                target=_collect_garbage_periodically,
                args=(self._stopped, weakref.ref(self)),
                name="tensorloom-housekeeping",
                daemon=True,
            ).start()

    def _join_job(self) -> None:
        """Becomes a member where TENSORLOOM_COORDINATION names a lock service."""
        job, index = self._server_def.job_name, self._server_def.task_index
        if self._beside is not None or job == _LOCAL_JOB:
            return
        self._membership = membership.join(
            job,
            index,
            {
                "address": self.address,
                "incarnation": self._worker.devices()[0].incarnation,
            },
            ClusterSpec(self._server_def.cluster),
            self._directory.update,
        )

    def describe(self) -> dict[str, Any]:
        """What the task does now: sessions, waits, variables, errors; as JSON has it.

        `tensorloom dashboard` shows it.
        """
        return task_state(self._worker, self._master, self.address, self._made_at)

    def join(self) -> None:
        """Waits until the server is stopped, by `stop` or from outside."""
        self._stopped.wait()

    def update_cluster(self, cluster: Any) -> None:
        """Tells the task of tasks that joined, moved or left.

        Sessions made later see them; those that run go on as they are. A worker that
        joins an asynchronous training tells nobody: the tasks that it speaks to learn
        of it with its first session.

        Args:
          cluster: what a `ClusterSpec` is made of, with the tasks in question alone,
            such as `{"worker": {2: "host:port"}}`; an empty address takes one out.
        """
        self._directory.update(ClusterSpec(cluster))

    def fence(self, check: Callable[[], None] | None) -> None:
        """Has each step that another task's master begins here pass a check.

        Args:
          check: raises what the step fails with; None: there is no check any more.
        """
        self._worker.fence = check

    def containers(self) -> set[str]:
        """The containers of the variables, queues and so on that the task holds."""
        return {resource.container for resource in self._worker.resources()}

    def clear(self, containers: Sequence[str]) -> None:
        """Drops what is in these containers."""
        if containers:
            self._worker.cleanup_all(containers)

    def collect_garbage(self) -> None:
        """Drops what has been left here; ends waits that can have no other end."""
        self._worker.steps.sweep()
        if self._worker.collectives is not None:
            self._worker.collectives.waits.check(task_timeout_s())
        idle_s = session_idle_s()
        if idle_s:
            self._masters.collect_idle(idle_s)

    def stop(self, grace_s: float = 0.0) -> None:
        """Ends the task: steps are cancelled, the port is free again."""
        with self._stopping:
            if not self._stopped.is_set():
                self._stop(grace_s)

    def _stop(self, grace_s: float) -> None:
        _running.pop(self._server.port, None)
        if self._membership is not None:
            self._membership.leave()
        self._server.stop(grace_s)
        for task in self._session_tasks:
            task.stop()
        for server in self._socket_servers:
            server.stop()
        self._worker.close()
        self._directory.close()
        op_keys.leave(self._own_address)
        self._stopped.set()

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A cluster of one task at a free port of this machine.

        Args:
          config: a `tf.ConfigProto`.
          start: whether to answer at once.
        """
        return Server(
            {_LOCAL_JOB: ["localhost:0"]}, protocol="grpc", config=config, start=start
        )


class _SessionTask(Server):
    """A task of one session, beside the task whose variables it shares if it may."""

    def __init__(
        self, beside: Worker, address: str, job: str, index: int, config: Any
    ) -> None:
        self._beside = beside
        super().__init__({job: {index: address}}, job, index, config=config)


def session_idle_s() -> float:
    """After how long a session of a silent client is closed; 0: never.

    Raises:
      ValueError: the environment variable is no number.
    """
    return float(os.environ.get(IDLE_VARIABLE, 0.0))


def _collect_garbage_periodically(
    stopped: threading.Event, reference: weakref.ref[Server]
) -> None:
    """Collects garbage now and then, as long as the server is there and runs."""
    period_s = min(
        _GARBAGE_PERIOD_S,
        session_idle_s() or _GARBAGE_PERIOD_S,
        task_timeout_s() / 2,  # see `Waits.check`
    )
    while not stopped.wait(period_s):
        server = reference()
        if server is None:
            return
        server.collect_garbage()
        del server


def running_at(target: str) -> Server | None:
    """The server of this process that a target means, if it is one."""
    host, port = host_port.parse(target.removeprefix("grpc://"))
    return _running.get(port) if host_port.is_loopback(host) else None
