"""The steps that span tasks: where each one's tensors meet, by step id.

A peer may ask for a tensor before this task knows the step, so whoever comes
first makes the rendezvous; the master's CleanupGraph ends it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.devices.device_name import task_of
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.rendezvous_key import (
    parse_rendezvous_key,
    source_task,
    target_task,
)
from tensorloom.transport.wire import status
from tensorloom.worker.collective.step_collectives import StepCollectives
from tensorloom.worker.run.rendezvous import Receiver, Rendezvous
from tensorloom.worker.run.runtime import received_host
from tensorloom.worker.run.step import Step

if TYPE_CHECKING:
    from tensorloom.framework.runtime.cancellation import CancellationManager
    from tensorloom.framework.runtime.resource import ResourceManager
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.transport.sockets.call_link import CallLink
    from tensorloom.transport.wire.value_methods import Sent
    from tensorloom.worker.collective.task_collectives import TaskCollectives

# Steps remembered after their end: a late request must not begin them anew.
_REMEMBERED: Final = 10_000
# Sweeps that a step outlasts while other tasks wait for it to begin here: hours.
_SWEEPS_AWAITED: Final = 1000

# Larger tensors, in bytes, do not wait for the end of a part: their time is not that of
# the call.
_MAX_LATER: Final = 64 * 1024


class Peers(Protocol):
    """The other tasks of the cluster, as a worker needs them."""

    def recv_tensors(
        self,
        task: str,
        step_id: int,
        keys: Sequence[str],
        done: Callable[[str], Callable[[Any, bool, errors.OpError | None], None]],
    ) -> Callable[[], None]:
        """Asks a task for tensors of a step.

        Args:
          task: which task.
          step_id: of which step.
          keys: the rendezvous keys.
          done: returns the callback of a key, which gets (value, is_dead, error).

        Returns:
          A function that gives the request up.
        """
        ...

    def push_tensors(self, task: str, step_id: int, tensors: Sequence[Sent]) -> None:
        """Sends tensors to a task that did not ask for them.

        Raises:
          errors.UnavailableError: the task cannot be reached.
        """
        ...

    def push_failure(self, task: str, step_id: int, error: errors.OpError) -> None:
        """Tells a task that this one's part of a step has failed; never raises."""
        ...


class StepRendezvous(Rendezvous):
    """The rendezvous of a step on one task; what other tasks send is pulled."""

    def __init__(self, task: str, step_id: int, peers: Peers | None) -> None:
        super().__init__()
        self._task = task
        self._step_id = step_id
        self._peers = peers
        #: Whether what other tasks need is pushed to them, and nothing is pulled.
        self.pushes = False
        #: The dtypes of what is sent from here where values do not tell them, by key
        #: without frame and iteration.
        self.dtypes: dict[str, DType] = {}
        # What waits to be pushed, by task.
        self._later: dict[str, list[Sent]] = {}
        self._later_lock = concurrency.Lock()
        self._carried: list[Sent] = []
        self._carried_to = ""
        self._links: dict[str, CallLink] = {}  # by the task at the other end
        self._key_at_link = ""  # what is waited for there
        self._caller = ""  # of the part that runs here, if there is a link to it
        self._pulled: set[str] = set()
        self._lost: dict[str, errors.OpError] = {}
        self._cancels: list[Callable[[], None]] = []
        self._pull_lock = concurrency.Lock()

    @property
    def step_id(self) -> int:
        """Of the step."""
        return self._step_id

    def dtype_of(self, key: str) -> DType | None:
        """The dtype of what was sent under a key, if its value does not tell it."""
        return self.dtypes.get(key.rpartition(";")[0])

    def send(self, key: str, value: Any, is_dead: bool = False) -> None:
        """Leaves a value here, or pushes it to the task that needs it."""
        target = target_task(key) if self.pushes else self._task
        if target == self._task:
            super().send(key, value, is_dead)
        else:
            self._push(target, [(key, received_host(value), is_dead)])

    def send_later(self, key: str, value: Any) -> None:
        """As `send`; but a value for another task waits for `flush`.

        A large one must not change until then.
        """
        target = target_task(key) if self.pushes else self._task
        if target == self._task:
            super().send(key, value)
            return
        value = received_host(value)
        if getattr(value, "nbytes", 0) <= _MAX_LATER:
            if type(value) is np.ndarray:
                value = value.copy()  # it may change before it is sent
            if target == self._carried_to:
                self._carried.append((key, value, False))
                return
        with self._later_lock:
            self._later.setdefault(target, []).append((key, value, False))

    def flush(self) -> None:
        """Sends what waits."""
        with self._later_lock:
            later, self._later = self._later, {}
        for target, tensors in later.items():
            self._push(target, tensors)

    def finish(self) -> None:
        """As `flush`, at the end of a part: what its caller needs goes with the reply.

        If it looks for it at the link; and what is small.
        """
        link = self._links.get(self._caller)
        if link is None or not link.sends:
            self.flush()
            return
        with self._later_lock:
            later = self._later.pop(self._caller, [])
        large: list[Sent] = []
        for tensor in later:
            is_small = getattr(tensor[1], "nbytes", 0) <= _MAX_LATER
            (self._carried if is_small else large).append(tensor)
        if large:
            self._push(self._caller, large)
        self.flush()

    # --- links -----------------------------------------------------------------------

    def link(self, task: str, link: CallLink) -> None:
        """Exchanges tensors with a task on the connection of a call, until `unlink`.

        The part that runs here must have one thread alone that sends and receives.
        """
        self._links[task] = link

    def link_caller(self, task: str, link: CallLink) -> list[Sent]:
        """As `link`, to who runs the part; returns the list that `finish` fills."""
        self._caller = task
        self._links[task] = link
        return self._carried

    def unlink(self) -> None:
        """The part has ended."""
        self._links = {}

    def recv(self, key: str, cancellation: CancellationManager | None = None) -> Any:
        """Waits for the value of `key`; see `Rendezvous.recv`."""
        if self._links:
            link = self._links.get(source_task(key))
            if link is not None and link.is_open and not self._values.get(key):
                self._take_until(key, link, cancellation)
        return super().recv(key, cancellation)

    def _take_until(
        self, key: str, link: CallLink, cancellation: CancellationManager | None
    ) -> None:
        """Takes what comes at a link until `key` is there, or cannot come there."""
        token = None
        if cancellation is not None:
            token = cancellation.register(link.wake)
            if token is None:
                return
        self._key_at_link = key
        try:
            while link.is_open and self._aborted is None:
                if cancellation is not None and cancellation.cancelled:
                    return
                for name, value, is_dead in link.take():
                    self.deliver(name, value, is_dead)
                if self._values.get(key):
                    return
        finally:
            self._key_at_link = ""
            if cancellation is not None and token is not None:
                cancellation.deregister(token)

    def _push(self, target: str, tensors: Sequence[Sent]) -> None:
        link = self._links.get(target)
        if link is not None and link.push(tensors):
            return
        assert self._peers is not None
        self._peers.push_tensors(target, self._step_id, tensors)

    def carry(self, task: str) -> list[Sent]:
        """The list that gets small tensors for a task, which takes them from there."""
        self._carried_to = task
        return self._carried

    def pull(self, keys: Iterable[str]) -> None:
        """Asks the senders of `keys`, so that the values are here when needed."""
        by_source: dict[str, list[str]] = {}
        for key in keys:
            source = task_of(parse_rendezvous_key(key)[0])
            by_source.setdefault(source, []).append(key)
        for source, wanted in by_source.items():
            self._pull(wanted, source)

    def pull_by(
        self,
        key: str,
        ask: Callable[
            [Callable[[Any, errors.OpError | None], None]], Callable[[], None]
        ],
    ) -> None:
        """As `pull`, where the sender is asked in another way.

        Args:
          key: under which the value will be.
          ask: takes what gets the value or an error; returns what gives it up.
        """
        with self._pull_lock:
            if key in self._pulled:
                return
            self._pulled.add(key)
        take = self._taker(key)
        self._give_up_later(ask(lambda value, error: take(value, False, error)))

    def recv_async(self, key: str, receiver: Receiver) -> None:
        """Calls `receiver` once the value is there; see `Rendezvous.recv_async`."""
        super().recv_async(key, receiver)
        source = source_task(key)
        if source == self._task:
            return
        if not self.pushes:
            self._pull([key], source)
        elif source in self._lost and self._waits_for(source):
            self.abort(self._lost[source])

    def lose(self, task: str, error: errors.OpError) -> bool:
        """Tensors that a task has pushed may be lost; True if one is waited for."""
        self._lost[task] = error
        return self.pushes and self._waits_for(task)

    def _waits_for(self, task: str) -> bool:
        return any(source_task(key) == task for key in super().waited_keys())

    def waited_keys(self) -> list[str]:
        """The keys that somebody waits for, at a link as well."""
        at_link = self._key_at_link
        return super().waited_keys() + ([at_link] if at_link else [])

    def _pull(self, keys: Sequence[str], source: str) -> None:
        if self._peers is None:
            raise errors.InvalidArgumentError(
                None, None, f"{self._task} knows no other task, but needs {keys[0]}"
            )
        with self._pull_lock:
            wanted = [key for key in keys if key not in self._pulled]
            self._pulled.update(wanted)
        if not wanted:
            return
        self._give_up_later(
            self._peers.recv_tensors(source, self._step_id, wanted, self._taker)
        )

    def _give_up_later(self, cancel: Callable[[], None]) -> None:
        """Gives a request up when the step ends here; at once if it has."""
        with self._pull_lock:
            if self._aborted is None:
                self._cancels.append(cancel)
                return
        cancel()

    def _taker(self, key: str) -> Callable[[Any, bool, errors.OpError | None], None]:
        def take(value: Any, is_dead: bool, error: errors.OpError | None) -> None:
            if error is not None:
                self.abort(error)
            else:
                self.deliver(key, value, is_dead)

        return take

    def deliver(self, key: str, value: Any, is_dead: bool) -> None:
        """Takes what another task sent."""
        try:
            super().send(key, value, is_dead)
        except errors.OpError:
            return  # the step is over

    def abort(self, error: errors.OpError) -> None:
        """Ends the step here; requests under way are given up."""
        super().abort(error)
        for link in list(self._links.values()):
            link.wake()
        with self._pull_lock:
            cancels, self._cancels = self._cancels, []
        for cancel in cancels:
            cancel()


class _Entry:
    __slots__ = ("error", "idle_sweeps", "rendezvous", "steps")

    def __init__(self, rendezvous: StepRendezvous) -> None:
        self.rendezvous = rendezvous
        self.steps: list[Step] = []
        self.error: errors.OpError | None = None  # why it was ended
        self.idle_sweeps = 0  # how often `sweep` found it idle, last

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs here at the moment."""
        return all(step.is_over for step in self.steps)

    @property
    def most_sweeps(self) -> int:
        """How often `sweep` may find it idle before it is forgotten."""
        is_awaited = not self.steps and self.rendezvous.waited_keys()
        return _SWEEPS_AWAITED if is_awaited else 1


def _cleaned_up(step_id: int) -> errors.OpError:
    return errors.AbortedError(None, None, f"Cleanup {step_id}")


class StepTable:
    """The steps of one task that other tasks take part in. Thread-safe."""

    def __init__(
        self,
        task: str,
        peers: Peers | None = None,
        collectives: TaskCollectives | None = None,
    ) -> None:
        self._task = task
        self._peers = peers
        self._collectives = collectives
        self._lock = concurrency.Lock()
        self._entries: dict[int, _Entry] = {}
        self._over: OrderedDict[int, None] = OrderedDict()
        #: How many steps this task has taken part in; threads count without a lock.
        self.begun = 0

    def __len__(self) -> int:
        return len(self._entries)

    def waited_keys(self) -> dict[int, list[str]]:
        """By step the rendezvous keys that somebody waits for."""
        with self._lock:
            entries = list(self._entries.items())
        found = {step: entry.rendezvous.waited_keys() for step, entry in entries}
        return {step: keys for step, keys in found.items() if keys}

    def rendezvous(self, step_id: int) -> StepRendezvous:
        """The rendezvous of a step, made when it is asked for first.

        Raises:
          errors.AbortedError: the step is over.
        """
        return self._entry(step_id).rendezvous

    def independent(self, step_id: int) -> StepRendezvous:
        """The rendezvous, not kept here, of a part that never receives or waits."""
        self.begun += 1
        return StepRendezvous(self._task, step_id, self._peers)

    def begin(self, step_id: int, resources: ResourceManager) -> Step:
        """A run that belongs to a step, so that `abort` and `fail` reach it.

        It is cancelled already where one of them came before it.

        Raises:
          errors.AbortedError: the step is over.
        """
        self.begun += 1
        entry = self._entry(step_id)
        step = Step(resources, step_id, entry.rendezvous)
        with self._lock:
            entry.steps.append(step)
            error = entry.error
        if error is not None:
            step.cancellation.cancel(error)
        return step

    def _entry(self, step_id: int) -> _Entry:
        with self._lock:
            entry = self._entries.get(step_id)
            if entry is None:
                if step_id in self._over:
                    raise _cleaned_up(step_id)
                rendezvous = StepRendezvous(self._task, step_id, self._peers)
                if self._collectives is not None:
                    rendezvous.collectives = StepCollectives(
                        self._collectives, rendezvous
                    )
                entry = self._entries[step_id] = _Entry(rendezvous)
            return entry

    def reopen(self, step_id: int) -> None:
        """A step that has ended may begin again, under the same id."""
        with self._lock:
            self._over.pop(step_id, None)

    def abort(self, step_id: int, error: errors.OpError) -> None:
        """Ends a step: what runs is cancelled, and who waits gets `error`."""
        with self._lock:
            entry = self._entries.get(step_id)
            if entry is None:
                return
            entry.error = entry.error or error
            steps = list(entry.steps)
        for step in steps:
            step.cancellation.cancel(error)
        entry.rendezvous.abort(error)

    def fail(self, step_id: int, error: errors.OpError) -> None:
        """As `abort`, also of a step that has not begun here yet."""
        with suppress(errors.OpError):  # it is over here, too
            self._entry(step_id)
            self.abort(step_id, error)

    def refuse(self, step_ids: Iterable[int], error: errors.OpError) -> None:
        """As `abort`; those of the steps that have not begun here never will."""
        for step_id in step_ids:
            with self._lock:
                is_known = step_id in self._entries
                if not is_known:
                    self._remember(step_id)
            if is_known:
                self.abort(step_id, error)

    def lose(self, task: str) -> None:
        """Ends the waits for tensors that a task has pushed, as they may be lost."""
        if task == self._task:
            return
        error = status.derived(
            errors.UnavailableError(
                None, None, f"{task} has hung up on {self._task} during the step"
            )
        )
        with self._lock:
            entries = list(self._entries.items())
        for step_id, entry in entries:
            if entry.rendezvous.lose(task, error):
                self.abort(step_id, error)

    def tell_failure(
        self, tasks: Iterable[str], step_id: int, error: errors.OpError
    ) -> None:
        """Tells peers that wait for this task's tensors that none will come."""
        for task in tasks:
            assert self._peers is not None
            self._peers.push_failure(task, step_id, error)

    def cleanup(self, step_id: int) -> None:
        """Forgets a step whose parts have all ended."""
        with self._lock:
            entry = self._entries.pop(step_id, None)
            self._remember(step_id)
        if entry is not None:
            entry.rendezvous.abort(_cleaned_up(step_id))

    def _remember(self, step_id: int) -> None:
        self._over[step_id] = None
        while len(self._over) > _REMEMBERED:
            self._over.popitem(last=False)

    def abandon(self, step_id: int) -> None:
        """Cancels what still runs of an abandoned step, and forgets the step."""
        self.abort(step_id, _cleaned_up(step_id))
        self.cleanup(step_id)

    def sweep(self) -> None:
        """Forgets the steps in which nothing has run since the last call.

        Their master is gone, or nobody of them ever came here. A master says at the
        latest with the next step that one is over. One that others wait for may only
        be late: in collectives each task's master begins it when its program does.
        """
        with self._lock:
            entries = list(self._entries.items())
        for step_id, entry in entries:
            if not entry.is_idle:
                entry.idle_sweeps = 0
            elif entry.idle_sweeps >= entry.most_sweeps:
                self.cleanup(step_id)
            else:
                entry.idle_sweeps += 1

    def close(self, error: errors.OpError) -> None:
        """Ends all steps: the task stops."""
        for step_id in list(self._entries):
            self.abort(step_id, error)
            self.cleanup(step_id)
