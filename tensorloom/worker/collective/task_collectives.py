"""A task's part in collectives: it leads groups, or asks the task that does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.collective.process_group import Pending
from tensorloom.framework.collective.requests import BROADCAST, GATHERING
from tensorloom.framework.devices.device_name import parse_full, task_of
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.types import dtypes
from tensorloom.worker.collective.groups import (
    Group,
    GroupTable,
    InstanceTable,
    Terms,
    is_full_name,
)
from tensorloom.worker.collective.sequences import Ended, StepSequences, next_id
from tensorloom.worker.collective.waits import Waits

if TYPE_CHECKING:
    import threading

    from tensorloom.framework.collective.requests import CollectiveRequest
    from tensorloom.framework.runtime.cancellation import CancellationManager
    from tensorloom.worker.collective.exchange import CollectivePeers

# A leader that is not there is asked again after this.
_RETRY_S: Final = 0.1


class TaskCollectives:
    """What a task knows of groups, their collectives and their steps. Thread-safe."""

    def __init__(
        self,
        task: str,
        peers: CollectivePeers,
        own_incarnations: dict[str, int],
        leader: str = "",
    ) -> None:
        """Makes it.

        Args:
          task: this one's name.
          peers: the other tasks.
          own_incarnations: of this task's devices.
          leader: the task that leads groups (`collective_group_leader`); "": the one
            that a node names, if any.
        """
        self.task = task
        self.peers = peers
        self.groups = GroupTable()
        self.instances = InstanceTable()
        self.sequences = StepSequences()
        self.waits = Waits(task, peers)
        self._own = own_incarnations
        # Of this process, as the leader is told.
        self._life = next(iter(own_incarnations.values()), 0) & 0xFFFFFFFFFFFFFFFF
        self._leader = leader
        self._lock = concurrency.Lock()
        self._known: dict[tuple[str, int], Group] = {}
        self._agreed: dict[tuple[str, int, int, str], tuple[Terms, bool, int]] = {}
        self._failed: dict[int, int] = {}  # by graph key: the step that failed here
        # By graph key, where this task leads: what comes after a step that went well.
        self._expected: dict[int, int] = {}
        # By graph key: what has ended with a step that failed here, as the others hear
        # with this task's next step.
        self._untold: dict[int, Ended | None] = {}
        self._turns: dict[int, threading.Lock] = {}
        # Whether a task of TensorFlow is in a group of this one's.
        self._is_mixed = False
        #: Lets a step begin again under its id.
        self.reopen: Callable[[int], None] = lambda step_id: None
        #: Ends steps with an error; those that have not begun here never will.
        self.refuse: Callable[[Iterable[int], errors.OpError], None] = _nothing
        # Tasks that may have been restarted since they said who they are.
        self._doubted: dict[str, None] = {}

    def leader_of(self, named: str) -> str:
        """The task that leads, where a node or session names one; "": none does."""
        return self._leader or named

    # --- groups and instances --------------------------------------------------------

    def group_of(
        self, request: CollectiveRequest, cancellation: CancellationManager
    ) -> Group | None:
        """The members of a collective; None if nobody leads groups.

        Waits until all have come.

        Raises:
          errors.InternalError: the members do not agree on the group.
          errors.UnavailableError: the leader is gone.
        """
        leader = self.leader_of(request.leader)
        if not leader:
            return None
        known = self._known.get((leader, request.group_key))
        is_fitting = (
            known is not None
            and request.device in known.joined
            and request.group_size == known.size
        )
        if known is not None and is_fitting:
            return known
        device_type = parse_full(request.device).type or "CPU"
        if leader == self.task:
            group: Group = self.groups.join(
                request.group_key, request.group_size, device_type, request.device
            ).result(cancellation)
        else:
            group = self._group_at(leader, request, device_type, cancellation)
        with self._lock:
            self._known[leader, request.group_key] = group
        others = [task for task in group.tasks if task != self.task]
        if not all(self.peers.is_tensorloom(task) for task in others):
            self._is_mixed = True
        return group

    def _group_at(
        self,
        leader: str,
        request: CollectiveRequest,
        device_type: str,
        cancellation: CancellationManager,
    ) -> Group:
        fields = {
            "group_key": request.group_key,
            "group_size": request.group_size,
            "device_type": device_type,
            "device_name": [request.device],
            "collective_type": request.kind,
        }
        response = self._ask(leader, "CompleteGroup", fields, cancellation)
        devices = tuple(response.device_name)
        is_right = (
            len(set(devices)) == len(devices) == request.group_size
            and request.device in devices
            and all(map(is_full_name, devices))
        )
        if not is_right:
            raise _internal(
                f"{leader} says that collective group {request.group_key} of size "
                f"{request.group_size} consists of {list(devices)}"
            )
        return Group(request.group_key, request.group_size, device_type, devices)

    def agree(
        self,
        request: CollectiveRequest,
        group: Group,
        step_id: int,
        cancellation: CancellationManager,
    ) -> int:
        """Has the leader compare the members' terms; the rank of a broadcast's source.

        Raises:
          errors.InternalError, errors.InvalidArgumentError: they differ.
          errors.UnavailableError: the leader is gone.
        """
        leader = self.leader_of(request.leader)
        data_type: int = dtypes.as_dtype(request.dtype).as_datatype_enum
        shape = request.shape
        if request.kind == GATHERING and shape:  # the result's, as TensorFlow says it
            shape = shape[0] * request.group_size, *shape[1:]
        terms = Terms(request.kind, data_type, shape, request.group_key)
        is_source = request.kind == BROADCAST and request.value is not None
        key = leader, request.group_key, request.instance_key, request.device
        known = self._agreed.get(key)
        if known is not None and known[:2] == (terms, is_source):
            return known[2]
        if leader == self.task:
            source: int = self.instances.complete(
                group, request.instance_key, terms, request.device, is_source, step_id
            ).result(cancellation)
        else:
            fields = {
                "name": request.node_name,
                "type": request.kind,
                "data_type": data_type,
                "shape": {"dim": [{"size": size} for size in shape]},
                "group_key": request.group_key,
                "group_size": request.group_size,
                "instance_key": request.instance_key,
                "device_type": group.device_type,
                "subdiv_offset": request.subdivisions,
                "device": request.device,
                "is_source": is_source,
                "step_id": step_id,
            }
            response = self._ask(leader, "CompleteInstance", fields, cancellation)
            source = response.source_rank
            self._check_source(request, group, leader, source)
        with self._lock:
            self._agreed[key] = terms, is_source, source
        return source

    @staticmethod
    def _check_source(
        request: CollectiveRequest, group: Group, leader: str, source: int
    ) -> None:
        if request.kind != BROADCAST:
            return
        rank = group.devices.index(request.device)
        is_right = (source == rank) == (request.value is not None)
        if not 0 <= source < group.size or not is_right:
            raise _internal(
                f"{leader} says that the broadcast {request.instance_key} comes from "
                f"rank {source}, but {request.device} of rank {rank} "
                f"{'receives' if request.value is None else 'sends'} it. The tasks of "
                "TensorFlow 1.15 lead no broadcasts whose sender is on another task."
            )

    def incarnations(self, group: Group) -> dict[str, int]:
        """The incarnations of a group's devices.

        Raises:
          errors.UnavailableError: a task does not answer.
        """
        with self._lock:
            doubted = [task for task in group.tasks if task in self._doubted]
        for task in doubted:
            self.peers.ask(task)
            with self._lock:
                self._doubted.pop(task, None)
        return {device: self._incarnation(device) for device in group.devices}

    def _incarnation(self, device: str) -> int:
        if task_of(device) != self.task:
            return self.peers.incarnation_of(device)
        if device not in self._own:
            raise _internal(f"A member of a collective: {self.task} has no {device}")
        return self._own[device]

    def doubt(self, group: Group) -> None:
        """A collective has failed: leader and members are asked anew before the next.

        They may have been restarted: a leader then knows nothing of the group.
        """
        with self._lock:
            self._doubted.update(
                dict.fromkeys(task for task in group.tasks if task != self.task)
            )
            self._known = {
                key: known for key, known in self._known.items() if key[1] != group.key
            }
            self._agreed = {
                key: terms for key, terms in self._agreed.items() if key[1] != group.key
            }

    # --- steps -----------------------------------------------------------------------

    def turn(self, graph_key: int) -> threading.Lock:
        """What the steps of one graph hold one after the other."""
        with self._lock:
            return self._turns.setdefault(graph_key, concurrency.Lock())

    def begin_step(
        self, graph_key: int, leader: str, cancellation: CancellationManager
    ) -> int:
        """The id that all tasks' masters give to their next step of a graph.

        Raises:
          errors.UnavailableError: the leader is gone.
          errors.AbortedError: the last step went well here, but not on another task.
        """
        if leader == self.task:
            self._tell(self._untold.pop(graph_key, None), self.task)
            own: int = self.sequences.begin(graph_key)
            if self._expected.pop(graph_key, own) != own:
                raise errors.AbortedError(
                    None, None, "The last step of this graph has failed on another task"
                )
            return own
        step_id = self.sequences.peek(graph_key)
        if step_id is not None:
            return step_id
        fields = {
            "graph_key": [graph_key],
            "failed_step_id": self._failed.get(graph_key, 0),
            "task": self.task,
            "incarnation": self._life,
        }
        response = self._ask(leader, "GetStepSequence", fields, cancellation)
        for sequence in response.step_sequence:
            self.sequences.take(sequence.graph_key, sequence.next_step_id)
        self._failed.pop(graph_key, None)
        return self.sequences.begin(graph_key)

    def end_step(
        self, graph_key: int, leader: str, step_id: int, is_well: bool, is_alone: bool
    ) -> None:
        """The step has ended; see `CollectiveSteps`."""
        if is_well:
            self.sequences.retire(graph_key, step_id)
            if leader == self.task:
                self._expected[graph_key] = next_id(step_id)
        elif self._is_mixed and is_alone:
            # TensorFlow's masters give the next step the same id.
            self.reopen(step_id)
        elif leader == self.task:
            ended = self.sequences.renew(graph_key, step_id)
            self._refuse(ended, self.task)
            # Not at once: they may be about to hear what is wrong.
            self._untold[graph_key] = ended
        else:
            self._failed[graph_key] = step_id
            self.sequences.forget(graph_key)

    def renew(self, graph_key: int, step_id: int, told_by: str = "") -> None:
        """A step has failed on another task: this one, which leads, numbers anew."""
        ended = self.sequences.renew(graph_key, step_id)
        self._refuse(ended, told_by)
        self._tell(ended, told_by)

    def meet(self, graph_key: int, task: str, life: int) -> None:
        """A task asks this one, which leads, for an id; see `StepSequences.meet`."""
        if self._is_mixed:
            return  # TensorFlow's tasks ask once, and count on from there
        ended = self.sequences.meet(graph_key, task, life)
        self._refuse(ended, task)
        self._tell(ended, task)

    def _refuse(self, ended: Ended | None, told_by: str) -> None:
        """Ends steps here, where they may be under way."""
        if ended is None:
            return
        place = told_by or "another task"
        error = errors.AbortedError(None, None, f"The step has failed on {place}")
        self.refuse(range(ended.first, ended.first + ended.count), error)

    def _tell(self, ended: Ended | None, told_by: str) -> None:
        """Ends them at the other members."""
        if ended is None:
            return
        fields = {"step_id": ended.first, "more": ended.count - 1}
        for task in ended.tasks:
            if task not in (self.task, told_by):
                with suppress(errors.OpError):  # it is gone, and so are its steps
                    self.peers.start_call(task, "CleanupGraph", fields, _nothing)

    # --- calls -----------------------------------------------------------------------

    def _ask(
        self,
        task: str,
        name: str,
        fields: dict[str, Any],
        cancellation: CancellationManager,
    ) -> Any:
        """Calls a task and waits; one that is not there yet is called again."""
        deadline = concurrency.monotonic() + self.peers.wait_s
        while True:
            pending = Pending()
            cancel = self.peers.start_call(task, name, fields, _settling(pending))
            try:
                return pending.result(cancellation)
            except errors.UnavailableError:
                if concurrency.monotonic() >= deadline:
                    raise
            finally:
                with suppress(errors.OpError):
                    cancel()
            _pause(cancellation)


def _internal(message: str) -> errors.InternalError:
    return errors.InternalError(None, None, message)


def _nothing(*_: object) -> None:
    """Of a task without steps; and of calls whose outcome does not matter."""


def _settling(
    pending: Pending,
) -> Callable[[Any, errors.OpError | None], None]:
    def done(response: Any, error: errors.OpError | None) -> None:
        if error is not None:
            pending.fail(error)
        else:
            pending.resolve(response)

    return done


def _pause(cancellation: CancellationManager) -> None:
    """Waits a moment, but not beyond the end of a step.

    Raises:
      errors.OpError: the step was cancelled.
    """
    ended = concurrency.Event()
    token = cancellation.register(ended.set)
    if token is not None:
        ended.wait(_RETRY_S)
        cancellation.deregister(token)
    cancellation.check()
