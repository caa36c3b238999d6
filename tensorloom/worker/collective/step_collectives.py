"""The collectives of one step on one task: who is in them, and how they are done."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from tensorloom.framework import errors
from tensorloom.framework.collective.requests import BROADCAST, GATHERING
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.cancellation import (
    CancellationManager,
    Deadline,
    Following,
)
from tensorloom.worker.collective import direct, ring, tree
from tensorloom.worker.collective.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tensorloom.framework.collective.requests import CollectiveRequest
    from tensorloom.worker.collective.groups import Group
    from tensorloom.worker.collective.task_collectives import TaskCollectives
    from tensorloom.worker.collective.waits import Wait
    from tensorloom.worker.run.step_table import StepRendezvous

_Result = TypeVar("_Result")


class StepCollectives:
    """Implements `framework.collective.requests.StepCollectives`. Thread-safe."""

    def __init__(self, of_task: TaskCollectives, rendezvous: StepRendezvous) -> None:
        """Takes what the task knows of groups, and where the step's pieces meet."""
        self._task = of_task
        self._rendezvous = rendezvous
        self._lock = concurrency.Lock()
        # How often a member has come: in a loop once an iteration.
        self._rounds: dict[tuple[str, str, int], int] = {}

    def run(
        self, request: CollectiveRequest, cancellation: CancellationManager
    ) -> tuple[bool, Any]:
        """Takes part in a collective; see the protocol."""
        if request.group_size < 2 or not self._task.leader_of(request.leader):
            return False, None
        return self._limited(request, cancellation, self._run)

    def is_among_own(
        self, request: CollectiveRequest, cancellation: CancellationManager
    ) -> bool:
        """Whether its members are all of this system, on several tasks."""
        if request.group_size < 2 or not self._task.leader_of(request.leader):
            return False
        group = self._limited(request, cancellation, self._group)
        if group is None or group.tasks == (self._task.task,):
            return False
        return self._is_own(group)

    def _is_own(self, group: Group) -> bool:
        return all(
            task == self._task.task or self._task.peers.is_tensorloom(task)
            for task in group.tasks
        )

    @staticmethod
    def _limited(
        request: CollectiveRequest,
        cancellation: CancellationManager,
        work: Callable[[CollectiveRequest, CancellationManager], _Result],
    ) -> _Result:
        """Does it in the time that the request gives."""
        limited = CancellationManager()
        limit = (
            Deadline(limited, request.timeout_s)
            if request.timeout_s > 0
            else nullcontext()
        )
        try:
            with Following(cancellation, limited), limit:
                return work(request, limited)
        except errors.CancelledError:
            cancellation.check()
            limited.check()
            raise

    def _run(
        self, request: CollectiveRequest, cancellation: CancellationManager
    ) -> tuple[bool, Any]:
        with self._waiting(request, cancellation) as wait:
            group = wait.group = self._task.group_of(request, cancellation)
            if group is None or group.tasks == (self._task.task,):
                return False, None
            try:
                return True, self._among(group, request, cancellation, wait)
            except errors.OpError:
                self._task.doubt(group)
                raise

    def _waiting(
        self, request: CollectiveRequest, cancellation: CancellationManager
    ) -> AbstractContextManager[Wait]:
        step_id = self._rendezvous.step_id
        return self._task.waits.waiting(request, step_id, cancellation)

    def _group(
        self, request: CollectiveRequest, cancellation: CancellationManager
    ) -> Group | None:
        with self._waiting(request, cancellation):
            return self._task.group_of(request, cancellation)

    def _among(
        self,
        group: Group,
        request: CollectiveRequest,
        cancellation: CancellationManager,
        wait: Wait,
    ) -> Any:
        source = self._task.agree(
            request, group, self._rendezvous.step_id, cancellation
        )
        exchange = Exchange(
            self._rendezvous,
            self._task.peers,
            group,
            request.device,
            self._task.incarnations(group),
            self._key(request),
            cancellation,
            wait,
        )
        result = self._done(request, group, exchange, source)
        exchange.finish()
        return result

    def _done(
        self, request: CollectiveRequest, group: Group, exchange: Exchange, source: int
    ) -> Any:
        if request.kind == BROADCAST:
            return tree.broadcast(exchange, request, source)
        assert request.value is not None
        is_own = self._is_own(group)
        if is_own and direct.is_small(request):
            return direct.combine(exchange, request)
        if is_own:
            direct.check_sizes(exchange, request)
        if request.kind == GATHERING:
            return ring.gather(exchange, request)
        size = request.value.nbytes
        rings = (
            ring.own_lanes(group.size, size)
            if is_own
            else ring.lanes_of(group.devices, request.subdivisions, size)
        )
        return ring.reduce(exchange, request, rings)

    def _key(self, request: CollectiveRequest) -> str:
        """What names a collective of a step, as TensorFlow does outside of loops."""
        me = request.device, request.node_name, request.instance_key
        with self._lock:
            number = self._rounds.get(me, 0)
            self._rounds[me] = number + 1
        return f"{request.instance_key}:0:{number}"
