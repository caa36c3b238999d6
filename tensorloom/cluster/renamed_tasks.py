"""Sessions whose clients give tasks of their cluster other names.

    config = tf.ConfigProto(cluster_def=...)   # {"worker": {0: a, 1: b}}
    tf.Session("grpc://" + a, config=config)   # where a is "/job:local/task:0"

Each of the tasks that the session's device filters let through then starts a task of
that name in its process, at a port of its own, for this session alone: the session gets
a cluster like any other. So it is as soon as one task has another name. Its variables
are its own, unless `experimental.share_session_state_in_clusterspec_propagation` is
set: then they are those of the tasks that were there. It ends with the session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tensorloom.cluster.control import start_task, stop_server
from tensorloom.cluster.directory import ClusterDirectory, passes_filters
from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency, session_config, threads
from tensorloom.master.run.master import Master
from tensorloom.master.run.session_activity import CountedStep, SessionActivities
from tensorloom.train.cluster_spec import ClusterSpec
from tensorloom.transport.peers import host_port

if TYPE_CHECKING:
    from tensorloom.cluster.server import Server
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.interfaces import (
        DeviceInfo,
        PreparedStep,
        StepSignature,
    )
    from tensorloom.framework.runtime.session_config import SessionConfig
    from tensorloom.framework.runtime.stage_journal import StageJournal

_RETRY_S: Final = 0.1

#: Starts a task in this process: (cluster, job, index) -> its server.
StartHere = Callable[[ClusterSpec, str, int], "Server"]


class _Renamed:
    """The tasks of one session."""

    def __init__(self, own: Server, others: Sequence[str]) -> None:
        self._own, self._others = own, others

    @property
    def master(self) -> Master:
        """The master of the session's task here."""
        return self._own.master

    def stop(self) -> None:
        """Ends the tasks, without waiting for those that are elsewhere."""
        self._own.stop()
        for address in self._others:
            threads.start(lambda address=address: _stop(address))  # type: ignore[misc]


def _stop(address: str) -> None:
    with suppress(errors.OpError):  # it is gone already
        stop_server(address, "its session has ended")


class RenamingMaster(Master):
    """A server's master: sessions may call the server's task by another name."""

    def __init__(
        self,
        directory: ClusterDirectory,
        *args: Any,
        own_task: str,
        start_here: StartHere,
        wait_s: float,
    ) -> None:
        """Makes a master.

        Args:
          directory: the tasks that the server knows.
          args: as `Master`.
          own_task: the server's task.
          start_here: starts a further task in this process.
          wait_s: how long to wait for tasks that do not answer.
        """
        super().__init__(directory, *args)
        self._cluster_directory = directory
        self._own_task, self._start_here, self._wait_s = own_task, start_here, wait_s
        self._renamed: dict[str, _Renamed] = {}
        self._activities = SessionActivities()
        #: The `host:port` of the server, once it listens.
        self.own_address = ""

    def create_session(self, graph: GraphIR, config: SessionConfig) -> str:
        """Makes a session; see `MasterInterface`."""
        if config.cluster_def is None:
            return super().create_session(graph, config)
        cluster = ClusterSpec(config.cluster_def)
        own = self._place_in(cluster)
        if own is None or (
            _task_name(*own) == self._own_task
            and not self._cluster_directory.calls_otherwise(config)
        ):
            return super().create_session(graph, config)
        renamed, config = self._start_tasks(cluster, own, config)
        try:
            handle = renamed.master.create_session(graph, config)
        except BaseException:
            renamed.stop()
            raise
        self._renamed[handle] = renamed
        return handle

    def _place_in(self, cluster: ClusterSpec) -> tuple[str, int] | None:
        """The job and index of this server, by its address."""
        places = [
            (job, index)
            for job in cluster.jobs
            for index in cluster.task_indices(job)
            if _is_same(cluster.task_address(job, index), self.own_address)
        ]
        if len(places) > 1:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{self.own_address} is several tasks of the session's cluster_def: "
                f"{cluster}",
            )
        return places[0] if places else None

    def _start_tasks(
        self, cluster: ClusterSpec, own: tuple[str, int], config: SessionConfig
    ) -> tuple[_Renamed, SessionConfig]:
        """Starts the session's tasks; returns them and the config with their places."""
        deadline = concurrency.monotonic() + (
            config.operation_timeout_s or self._wait_s
        )
        here = self._start_here(cluster, *own)
        others: list[str] = []
        places: dict[str, dict[int, str]] = {}
        try:
            for job in cluster.jobs:
                for index in cluster.task_indices(job):
                    if (job, index) == own:
                        address = here.target.removeprefix("grpc://")
                    elif not passes_filters(_task_name(job, index), config):
                        continue
                    else:
                        address = _start_elsewhere(cluster, job, index, deadline)
                        others.append(address)
                    places.setdefault(job, {})[index] = address
        except BaseException:
            _Renamed(here, others).stop()
            raise
        proto = type(config.proto)()
        proto.CopyFrom(config.proto)
        proto.cluster_def.CopyFrom(ClusterSpec(places).as_cluster_def())
        return _Renamed(here, others), session_config.from_proto(proto)

    # --- sessions with tasks of their own --------------------------------------------

    def extend_session(self, session: str, graph: GraphIR) -> None:
        """Adds nodes and functions; see `MasterInterface`."""
        renamed = self._renamed.get(session)
        if renamed is None:
            super().extend_session(session, graph)
        else:
            renamed.master.extend_session(session, graph)

    def close_session(self, session: str) -> None:
        """Cancels the session's steps and ends its tasks, if it has any."""
        renamed = self._renamed.pop(session, None)
        if renamed is None:
            self._activities.close(session)
            super().close_session(session)
            return
        try:
            renamed.master.close_session(session)
        finally:
            renamed.stop()

    def reset(self, containers: Sequence[str]) -> None:
        """Empties containers on all workers, then closes all sessions."""
        for session in list(self._renamed):
            self.close_session(session)
        super().reset(containers)

    def list_devices(self, session: str | None = None) -> Sequence[DeviceInfo]:
        """All devices of a session's workers, or of the workers in reach."""
        renamed = None if session is None else self._renamed.get(session)
        if renamed is None:
            return super().list_devices(session)
        return renamed.master.list_devices(session)

    def graph_of(self, session: str) -> GraphIR:
        """What a session's graph is now."""
        renamed = self._renamed.get(session)
        if renamed is None:
            return super().graph_of(session)
        return renamed.master.graph_of(session)

    def prepare_step(self, session: str, signature: StepSignature) -> PreparedStep:
        """The registered step of a signature; see `MasterInterface`."""
        renamed = self._renamed.get(session)
        if renamed is not None:
            return renamed.master.prepare_step(session, signature)
        activity = self._activities.of(session)
        name = ", ".join((*signature.fetches, *signature.targets))
        try:
            prepared = super().prepare_step(session, signature)
        except errors.OpError as error:
            activity.failed(name, error)
            raise
        return CountedStep(prepared, name, activity)

    def explain_step(
        self, session: str, signature: StepSignature, journal: StageJournal
    ) -> PreparedStep:
        """Prepares a step anew, and tells a journal; see `Master`."""
        renamed = self._renamed.get(session)
        if renamed is None:
            return super().explain_step(session, signature, journal)
        return renamed.master.explain_step(session, signature, journal)

    def session_facts(self) -> list[dict[str, Any]]:
        """What the sessions of this master do."""
        return [
            {**facts, **self._activities.of(facts["session"]).facts()}
            for facts in self.sessions()
        ]

    @property
    def failures(self) -> list[dict[str, Any]]:
        """The last errors of steps, the newest first."""
        return self._activities.failures

    def partial_run_setup(self, session: str, signature: StepSignature) -> str:
        """Begins a partial run; see `MasterInterface`."""
        renamed = self._renamed.get(session)
        if renamed is None:
            return super().partial_run_setup(session, signature)
        return renamed.master.partial_run_setup(session, signature)

    def partial_run(
        self,
        session: str,
        partial_handle: str,
        feeds: Sequence[tuple[str, Any]],
        fetches: Sequence[str],
    ) -> list[Any]:
        """Continues a partial run; see `MasterInterface`."""
        renamed = self._renamed.get(session)
        if renamed is None:
            return super().partial_run(session, partial_handle, feeds, fetches)
        return renamed.master.partial_run(session, partial_handle, feeds, fetches)


def _task_name(job: str, index: int) -> str:
    return f"/job:{job}/replica:0/task:{index}"


def _is_same(address: str, own: str) -> bool:
    host, port = host_port.parse(address)
    own_host, own_port = host_port.parse(own)
    return port == own_port and (
        host == own_host
        or (host_port.is_loopback(host) and host_port.is_loopback(own_host))
    )


def _start_elsewhere(
    cluster: ClusterSpec, job: str, index: int, deadline: float
) -> str:
    """Has the server of a task start it by that name; returns its address.

    Raises:
      errors.UnavailableError, errors.DeadlineExceededError: it does not answer in time.
      errors.UnimplementedError: it is one of TensorFlow.
      errors.PermissionDeniedError: it starts no tasks for clients.
    """
    address = cluster.task_address(job, index)
    while True:
        left = deadline - concurrency.monotonic()
        try:
            return start_task(address, cluster, job, index, max(0.1, left))
        except errors.UnavailableError:
            if left <= _RETRY_S:
                raise
            concurrency.sleep(_RETRY_S)
