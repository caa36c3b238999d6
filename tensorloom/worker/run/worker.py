"""The worker of one task: sessions, registered graphs, resources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.interfaces import DeviceInfo
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.fences import Fences
from tensorloom.framework.runtime.resource import (
    Resource,
    ResourceManager,
    SessionResources,
)
from tensorloom.worker.run.registered_graph import RegisteredGraph
from tensorloom.worker.run.step_table import Peers, StepTable
from tensorloom.worker.run.worker_session import WorkerSession

if TYPE_CHECKING:
    from tensorloom.devices.device import Device
    from tensorloom.framework.debug.watches import DebugWatches
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.runtime.frame_id import FrameNumbering
    from tensorloom.framework.runtime.session_config import SessionConfig
    from tensorloom.transport.sockets.call_link import CallLink
    from tensorloom.transport.wire.value_methods import Sent
    from tensorloom.worker.collective.task_collectives import TaskCollectives


class Worker:
    """The worker of one task, in process. Implements `WorkerInterface`."""

    def __init__(
        self,
        task: str,
        devices: Sequence[Device],
        peers: Peers | None = None,
        beside: Worker | None = None,
        collectives: TaskCollectives | None = None,
    ) -> None:
        """Makes a worker.

        Args:
          task: its name.
          devices: of this task, CPUs first.
          peers: the other tasks, where there are any.
          beside: the worker whose variables sessions share that are not isolated.
          collectives: the task's part in collectives with other tasks.
        """
        self._task = task
        self.collectives = collectives
        self.steps = StepTable(task, peers, collectives)
        if collectives is not None:
            collectives.reopen = self.steps.reopen
            collectives.refuse = self.steps.refuse
        self.local_devices = list(devices)
        self._by_name = {device.name: device for device in devices}
        for device in devices:
            device.task_devices = frozenset(self._by_name)
        self._owns_shared = beside is None
        self._shared: ResourceManager = (
            ResourceManager() if beside is None else beside._shared
        )
        self._fences: Fences = Fences() if beside is None else beside._fences
        self._sessions: dict[str, WorkerSession] = {}
        #: Raises when the task must not run steps of other tasks' masters now.
        self.fence: Callable[[], None] | None = None
        self._lock = concurrency.Lock()

    @property
    def task(self) -> str:
        """The task's name."""
        return self._task

    @property
    def is_tensorloom(self) -> bool:
        """True: it knows the ops that our passes make."""
        return True

    @property
    def numbering(self) -> FrameNumbering | None:
        """None: the master says how it numbers frames."""
        return None

    @property
    def takes_pushes(self) -> bool:
        """True: see `StepRendezvous.deliver`."""
        return True

    def device_named(self, name: str) -> Device:
        """The device of that full name.

        Raises:
          errors.InvalidArgumentError: it is not of this worker.
        """
        device = self._by_name.get(name)
        if device is None:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Device '{name}' is not a device of {self._task}; its devices are "
                f"{', '.join(self._by_name)}",
            )
        return device

    def devices(self) -> Sequence[DeviceInfo]:
        """The devices, CPUs first."""
        return [
            DeviceInfo(
                d.name,
                d.device_type,
                d.memory_limit,
                d.incarnation,
                d.physical_description,
                d.kernel_type,
            )
            for d in self.local_devices
        ]

    def create_session(self, session: str, config: SessionConfig) -> None:
        """Makes the state of a session; see `interfaces.WorkerInterface`.

        Raises:
          errors.AbortedError: of a fenced session: another process has taken over.
        """
        isolated = config.isolate_session_state
        resources = ResourceManager() if isolated else self._shared
        fence = config.fence
        if fence is not None:
            self._fences.admit(fence)
        with self._lock:
            others = list(self._sessions.values())
            self._sessions[session] = WorkerSession(
                SessionResources(resources, session), isolated, fence, self._fences
            )
        for other in others:
            if fence is not None and fence.supersedes(other.fence):
                other.fence_off()

    def delete_session(self, session: str) -> None:
        """Cancels the session's running steps and drops its state."""
        with self._lock:
            state = self._sessions.pop(session, None)
        if state is not None:
            state.close()
            state.resources.end()
            if state.is_isolated:
                state.resources.cleanup()

    def register_graph(
        self,
        session: str,
        graph: GraphIR,
        config: SessionConfig,
        ordered: bool = True,
        pushes: bool = False,
        numbering: FrameNumbering | None = None,
        debug: DebugWatches | None = None,
    ) -> RegisteredGraph:
        """Compiles a placed graph; see `interfaces.WorkerInterface`.

        `ordered` says that the nodes of all tasks' parts come in one topological
        order, so that a part may wait for another's tensor in the order of its nodes.
        `pushes` says that tensors for other tasks are pushed, and none is asked for.
        `numbering` is how the tasks of the step number frames in rendezvous keys, where
        a loop or branch spans them: tensors may then come dead. `debug` is what a
        debugger watches.
        """
        with self._lock:
            state = self._sessions.get(session)
        if state is None:
            raise errors.AbortedError(
                None,
                None,
                f"Session handle is not found: {session}. Possibly this worker "
                f'("{self._task}") just restarted.',
            )
        schedules = config.optimizer.custom_passes
        return RegisteredGraph(
            self, state, graph, ordered, pushes, numbering, schedules, debug
        )

    def deregister_graph(self, session: str, graph: Any) -> None:
        """Nothing to free beyond what the object holds."""

    def resources(self) -> list[Resource]:
        """What the task holds beyond steps; also that of isolated sessions."""
        with self._lock:
            sessions = [s for s in self._sessions.values() if s.is_isolated]
        managers = [self._shared, *(s.resources for s in sessions)]
        return [resource for manager in managers for resource in manager.all()]

    def sessions(self) -> dict[str, WorkerSession]:
        """The sessions by their handles."""
        with self._lock:
            return dict(self._sessions)

    def waited_keys(self) -> dict[int, list[str]]:
        """By step the rendezvous keys that somebody waits for."""
        with self._lock:
            sessions = list(self._sessions.values())
        found = self.steps.waited_keys()
        for session in sessions:
            for step in session.running:
                keys = step.rendezvous.waited_keys()
                if keys:
                    found.setdefault(step.step_id, keys)
        return found

    def close(self) -> None:
        """Cancels everything: the task stops."""
        with self._lock:
            sessions = list(self._sessions)
        for session in sessions:
            self.delete_session(session)
        self.steps.close(errors.CancelledError(None, None, "The task has stopped"))
        if self._owns_shared:
            self._shared.cleanup()

    def abort_step(self, step_id: int, error: errors.OpError) -> None:
        """Cancels this task's part of a step, also if it has not begun yet."""
        self.steps.fail(step_id, error)

    def link(self, step_id: int, task: str, link: CallLink) -> None:
        """Has a step exchange tensors with a task on the connection of a call."""
        with suppress(errors.OpError):  # the step is over
            self.steps.rendezvous(step_id).link(task, link)

    def take_pushed(self, step_id: int, tensors: Sequence[Sent]) -> None:
        """Takes tensors from another task; a step that is over needs them no more."""
        try:
            rendezvous = self.steps.rendezvous(step_id)
        except errors.OpError:
            return
        for key, value, is_dead in tensors:
            rendezvous.deliver(key, value, is_dead)

    def cleanup_step(self, step_id: int) -> None:
        """Forgets a step whose parts have all ended."""
        self.steps.cleanup(step_id)

    def end_abandoned_step(self, step_id: int, done: Callable[[], None]) -> None:
        """Ends a step that was given up, also where its parts still run."""
        self.steps.abandon(step_id)
        done()

    def cleanup_all(self, containers: Sequence[str]) -> None:
        """Deletes the resources of the containers; of all when there are none."""
        self._shared.cleanup(containers)
