"""The collectives that a task waits in, and which of these waits can never end.

Members meet by the instance key. Two tasks whose programs gave their collectives other
keys wait for each other for ever: each is in a step that the other does not run.
Neither knows that by itself, so a task that has waited long asks the others what they
wait for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.collective.process_group import Pending
from tensorloom.framework.devices.device_name import task_of
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.cancellation import CancellationManager, Deadline

if TYPE_CHECKING:
    from tensorloom.framework.collective.requests import CollectiveRequest
    from tensorloom.worker.collective.exchange import CollectivePeers
    from tensorloom.worker.collective.groups import Group

# Instance keys that an error shows of one task.
_SHOWN: Final = 8
# Waits without hope that a task remembers, for others to find theirs.
_REMEMBERED: Final = 64


@dataclass(frozen=True, slots=True)
class Told:
    """What a task says of a collective that it waits in."""

    group_key: int
    instance_key: int
    step_id: int
    for_s: float  # how long
    ended_s: float = 0.0  # how long ago it was given up as hopeless; 0: it is not


@dataclass(eq=False, slots=True)
class Wait:
    """A collective that this task is in."""

    group_key: int
    instance_key: int
    step_id: int
    since: float
    cancellation: CancellationManager  # of this collective alone
    group: Group | None = None  # once all members have joined it
    device: str = ""  # the member whose piece is waited for
    hopeless: errors.OpError | None = None  # why it can never end

    def __str__(self) -> str:
        place = f"collective instance {self.instance_key} of group {self.group_key}"
        if self.group is None:
            return f"{place}, which not all members have joined"
        if self.device:
            return f"{place}, to which {task_of(self.device)} has not come"
        return place


class Waits:
    """The waits of a task. Thread-safe."""

    def __init__(self, task: str, peers: CollectivePeers) -> None:
        """Takes this task's name, and the others."""
        self._task = task
        self._peers = peers
        self._waits: dict[Wait, None] = {}
        # With when they were given up: who waits for this task finds it nowhere else.
        self._given_up: deque[tuple[Wait, float]] = deque(maxlen=_REMEMBERED)

    @contextmanager
    def waiting(
        self,
        request: CollectiveRequest,
        step_id: int,
        cancellation: CancellationManager,
    ) -> Iterator[Wait]:
        """Notes a collective, within the block.

        Raises:
          errors.DeadlineExceededError: with the collective's name.
          errors.FailedPreconditionError: the wait could have no other end.
        """
        wait = Wait(
            request.group_key,
            request.instance_key,
            step_id,
            concurrency.monotonic(),
            cancellation,
        )
        self._waits[wait] = None
        try:
            yield wait
        except errors.DeadlineExceededError as error:
            raise errors.DeadlineExceededError(
                None, None, f"{error.message}: {wait}"
            ) from None
        except errors.CancelledError:
            if wait.hopeless is not None and cancellation.cause is wait.hopeless:
                raise wait.hopeless from None
            raise
        finally:
            del self._waits[wait]

    def told(self) -> list[Told]:
        """What this task says of them to others."""
        now = concurrency.monotonic()
        waits = [(wait, now) for wait in list(self._waits) if wait.hopeless is None]
        return [
            Told(
                wait.group_key,
                wait.instance_key,
                wait.step_id,
                end - wait.since,
                now - end,
            )
            for wait, end in [*waits, *self._given_up]
        ]

    def check(self, limit_s: float) -> None:
        """Ends those that can have no other end.

        Args:
          limit_s: who has waited less may yet go on.
        """
        now = concurrency.monotonic()
        waits = list(self._waits)
        asked: dict[str, list[Told]] = {}
        found: list[Wait] = []
        for wait in waits:
            group = wait.group
            alike = [one for one in waits if one.group_key == wait.group_key]
            if group is None or any(now - one.since < limit_s for one in alike):
                continue
            for task in group.tasks:
                if task != self._task and wait.hopeless is None:
                    if task not in asked:
                        asked[task] = self._ask(task, limit_s)
                    wait.hopeless = _why(wait, alike, task, asked[task], now, limit_s)
            if wait.hopeless is not None:
                found.append(wait)
        # Before they end: nobody is to find neither the wait nor that it was given up.
        self._given_up.extend((wait, concurrency.monotonic()) for wait in found)
        for wait in found:
            if wait.hopeless is not None:
                wait.cancellation.cancel(wait.hopeless)

    def _ask(self, task: str, limit_s: float) -> list[Told]:
        """What another task waits for; nothing if it does not say so."""
        pending = Pending()
        cancellation = CancellationManager()

        def done(response: Any, error: errors.OpError | None) -> None:
            pending.resolve(response if error is None else None)

        with suppress(errors.OpError), Deadline(cancellation, limit_s):
            cancel = self._peers.start_call(task, "GetStatus", {}, done)
            with _in_the_end(cancel):
                response = pending.result(cancellation)
                if response is not None:
                    return [
                        Told(
                            one.group_key,
                            one.instance_key,
                            one.step_id,
                            one.for_s,
                            one.ended_s,
                        )
                        for one in response.task_info.waiting
                    ]
        return []


@contextmanager
def _in_the_end(work: Callable[[], None]) -> Iterator[None]:
    try:
        yield
    finally:
        work()


def _why(
    wait: Wait,
    alike: list[Wait],
    task: str,
    told: list[Told],
    now: float,
    limit_s: float,
) -> errors.OpError | None:
    """Why a wait can never end, if it is so by what another member says.

    That one waits as long, in this group, but in other steps alone; or it did, while
    this one waited already. A member that is in a step of this task's, too, may be busy
    with what comes before the collective.

    Args:
      wait: this task's.
      alike: all of this task's in the group.
      task: the other one.
      told: what it says.
      now, limit_s: see `Waits.check`.
    """
    own_steps = {one.step_id for one in alike}
    in_group = [one for one in told if one.group_key == wait.group_key]
    theirs = [one for one in in_group if now - wait.since >= one.ended_s + limit_s]
    if (
        not theirs
        or any(one.for_s < limit_s for one in theirs)
        or any(one.step_id in own_steps for one in in_group)
    ):
        return None
    keys = sorted({one.instance_key for one in theirs})
    shown = ", ".join(map(str, keys[:_SHOWN]))
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return errors.FailedPreconditionError(
        None,
        None,
        f"{task} will not come to collective instance {wait.instance_key} of group "
        f"{wait.group_key}: it has waited {min(one.for_s for one in theirs):.0f} s for "
        f"its group in instance {shown}{more}, which this task has no step of. The "
        "programs of the two tasks number their collectives differently",
    )
