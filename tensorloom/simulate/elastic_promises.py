"""What an elastic training promises whatever comes, goes and fails."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from unittest import mock

from tensorloom.coordination.records import safe
from tensorloom.elastic import job as jobs
from tensorloom.elastic.leader import Leader
from tensorloom.elastic.plan import Plan, container, epoch_of
from tensorloom.elastic.restoring import Model

if TYPE_CHECKING:
    from tensorloom.simulate.scheduler import Process
    from tensorloom.simulate.simulation import Simulation

#: The name under which the lock service keeps the plan.
PLAN: Final = f"values/{safe(jobs.PLAN)}"
# A server looks at the plan, and drops what it has of earlier ones, within that time.
_DROPPED_S: Final = 5.0
_RESTORED: Final = "values that were restored"


def name_of(shard: int, worker: int) -> str:
    """The name of a worker's variable on a shard."""
    return f"v_{shard}_{worker}"


def slot_of(shard: int, worker: int) -> str:
    """The name of its slot: less by one after each update."""
    return f"{name_of(shard, worker)}/Momentum"


@dataclass
class _Counter:
    """What is known of a worker's variable on a shard.

    Args:
      value, count: of the variable and its slot, when they were known last; value is
        None where it is not known which belong together.
      most: a greater count, that it may have had then.
      begun: updates that may have been made since.
    """

    value: float | None = 0.0
    count: int = 0
    most: int = 0
    begun: int = 0


@dataclass
class Save:
    """A checkpoint that is being written.

    Args:
      prefix: its name.
      number: of all that were begun.
      counts: by shard and worker, of which the worker knew when it began.
      epochs: by shard: how often it had been restored by then.
    """

    prefix: str
    number: int
    counts: dict[tuple[int, int], int]
    epochs: dict[int, int]


@dataclass
class _Restore:
    """What a leader has restored for a plan: shards, and values by name."""

    shards: set[int]
    values: dict[str, float] = field(default_factory=dict)


class ElasticPromises:
    """Notes what the programs and the lock service see, and what of it must not be.

    Args:
      simulation: of the training.
      shards, workers: how many there are.
      holds_copies: whether shards are restored from what workers hold, too.
    """

    def __init__(
        self, simulation: Simulation, shards: int, workers: int, holds_copies: bool
    ) -> None:
        self._simulation = simulation
        self._shards = range(shards)
        self._workers = range(workers)
        self._holds_copies = holds_copies
        #: What was broken.
        self.broken: list[str] = []
        #: Whether servers and workers only come and leave in order.
        self.is_calm = False
        self.steps = self.lost_steps = self.failed_sessions = self.saves = 0
        self.plans = self.moved = self.restored = 0
        self._counters = {
            (s, w): _Counter() for s in self._shards for w in self._workers
        }
        # By worker that is in a step: how often each shard had been restored before.
        self._in_step: dict[int, dict[int, int]] = {}
        # What was known before a restore in a step: it may have ended before that, and
        # what comes after it, as a clock of `max_staleness`, has waited for the change.
        self._before: dict[tuple[int, int], _Counter] = {}
        self._lives: dict[str, tuple[Process, Any]] = {}
        self._sessions = 0
        # The checkpoints by name: the number of the last save that began with it.
        self._saves: dict[str, int] = {}
        self._committed = -1
        self._epochs = dict.fromkeys(self._shards, 0)
        self._plan: Plan | None = None  # the last one that was ready
        self._newest: Plan | None = None
        self._ready_at = 0.0
        self._restores: dict[int, _Restore] = {}  # by version

    def breaks(self, text: str) -> None:
        """Notes what was broken."""
        self.broken.append(f"{self._simulation.now:.3f} s: {text}")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within the block it is seen what leaders restore."""
        with ExitStack() as stack:
            for kind, name, watched in (
                (Model, "restore", self._watch_model(Model.restore)),
                (Leader, "_restore", self._watch_leader(Leader._restore)),
            ):
                stack.enter_context(mock.patch.object(kind, name, watched))
            yield

    # --- updates ---------------------------------------------------------------------

    def step_begins(self, worker: int) -> None:
        """A step is to update each variable of its worker once, or not at all."""
        self._in_step[worker] = dict(self._epochs)
        for shard in self._shards:
            self._counters[shard, worker].begun += 1
            self._before.pop((shard, worker), None)

    def step_ended(
        self, worker: int, values: Sequence[Any], slots: Sequence[Any]
    ) -> None:
        """It has, and has fetched variables and slots."""
        self.steps += 1
        del self._in_step[worker]
        for shard, value, slot in zip(self._shards, values, slots, strict=True):
            self._look_at(shard, worker, float(value), -round(float(slot)))

    def _look_at(self, shard: int, worker: int, value: float, count: int) -> None:
        before = self._before.pop((shard, worker), None)
        if before is not None and before.count < count <= before.most + before.begun:
            return
        known = self._counters[shard, worker]
        if not known.count + 1 <= count <= known.most + known.begun:
            self.breaks(
                f"worker{worker} found {count} updates on shard {shard} after "
                f"{known.count} (at most {known.most}) and {known.begun} more, the "
                "last of which ended"
            )
        elif known.value is not None:
            made = count - known.count
            wanted = known.value + made * known.count + made * (made + 1) / 2
            if value != wanted:
                self.breaks(
                    f"worker{worker} found {value:g} on shard {shard}, whose slot has "
                    f"{count} updates: that makes {wanted:g}"
                )
        self._counters[shard, worker] = _Counter(value, count, count)

    def step_lost(self, worker: int, error: Exception) -> None:
        """A step has failed with a server."""
        self._in_step.pop(worker, None)
        self.lost_steps += 1
        if self.is_calm:
            self.breaks(f"a step was lost though no server was: {error}")

    # --- workers and servers ---------------------------------------------------------

    @contextmanager
    def session_is_open(self) -> Iterator[None]:
        """Around what a worker does in its session."""
        self._sessions += 1
        try:
            yield
        finally:
            self._sessions -= 1

    def session_failed(self, error: Exception) -> None:
        """A worker begins anew with another session."""
        self.failed_sessions += 1
        if self.is_calm:
            self.breaks(f"a session failed though nobody did: {error}")

    def lives(self, life: str, process: Process, task: Any) -> None:
        """A server has joined, or is about to."""
        self._lives[life] = process, task

    def server_ended(self) -> None:
        """A server ends that was told to: without workers it may take shards along."""
        if not self._sessions:
            self.is_calm = False

    # --- plans -----------------------------------------------------------------------

    def published(self, content: bytes) -> None:
        """The lock service has a new plan."""
        plan = Plan.from_json(json.loads(content))
        newest = self._newest
        if newest is not None and not (
            plan.version > newest.version
            or (plan.version == newest.version and plan.is_ready > newest.is_ready)
        ):
            self.breaks(f"plan {plan.version} was published after {newest.version}")
        self._newest = plan
        if plan.is_ready:
            self.plans += 1
            self._ready_at = self._simulation.now
            before, self._plan = self._plan, plan
            for shard in self._shards:
                self._look_at_owner(plan, shard)
                if before is not None and shard in before.homes:
                    self._look_at_change(before, plan, shard)

    def _look_at_owner(self, plan: Plan, shard: int) -> None:
        home = plan.homes.get(shard)
        if home is None or home.life not in self._lives:
            self.breaks(f"plan {plan.version} has no owner of shard {shard}")
            return
        process, task = self._lives[home.life]
        if process.is_dead or not self.steps:
            return
        there = {
            resource.name
            for resource in task.worker.resources()
            if resource.container == container(shard, home.epoch)
        }
        wanted = {
            name(shard, worker)
            for worker in self._workers
            for name in (name_of, slot_of)
        }
        if not wanted <= there:
            self.breaks(
                f"{process.name} is to have shard {shard} by plan {plan.version}, and "
                f"has no {min(wanted - there)}"
            )

    def _look_at_change(self, before: Plan, plan: Plan, shard: int) -> None:
        if before.homes[shard].epoch == plan.homes[shard].epoch:
            return
        restore = self._restores.get(plan.version)
        if restore is None or shard not in restore.shards:
            self.moved += 1
            return
        self.restored += 1
        self._epochs[shard] += 1
        if self.is_calm:
            self.breaks(f"shard {shard} was restored though no server was lost")
        for worker in self._workers:
            value = restore.values.get(name_of(shard, worker), 0.0)
            count = -round(restore.values.get(slot_of(shard, worker), 0.0))
            known = self._counters[shard, worker]
            began = self._in_step.get(worker)
            if began is not None and began[shard] == self._epochs[shard] - 1:
                self._before[shard, worker] = known
            most = known.most + known.begun if self._holds_copies else count
            # Who waits at the gate makes the step after the change.
            self._counters[shard, worker] = _Counter(
                None if self._holds_copies else value,
                count,
                max(most, count),
                int(worker in self._in_step),
            )

    def look(self) -> None:
        """Looks whether what has moved is dropped where it was."""
        plan = self._newest
        if not self.is_calm or plan is None or not plan.is_ready:
            return
        if self._simulation.now - self._ready_at < _DROPPED_S:
            return
        for life, (process, task) in self._lives.items():
            if process.is_dead:
                continue
            own = {
                container(shard, home.epoch)
                for shard, home in plan.homes.items()
                if home.life == life
            }
            there = {name for name in task.containers() if epoch_of(name) is not None}
            if there - own:
                self.breaks(
                    f"{process.name} has {min(there - own)}, which plan {plan.version} "
                    "does not give it"
                )

    # --- checkpoints -----------------------------------------------------------------

    def save_begins(self, prefix: str) -> Save:
        """The chief begins to save."""
        number = self._saves[prefix] = len(self._saves)
        counts = {key: counter.count for key, counter in self._counters.items()}
        return Save(prefix, number, counts, dict(self._epochs))

    def saved(self, save: Save) -> None:
        """`save` has returned: what workers knew as it began is in the checkpoint."""
        self.saves += 1
        self._committed = max(self._committed, save.number)
        values = _read(save.prefix)
        for (shard, worker), count in save.counts.items():
            found = -round(values[slot_of(shard, worker)])
            if found < count and self._epochs[shard] == save.epochs[shard]:
                self.breaks(
                    f"{save.prefix} has {found} updates of worker{worker} on shard "
                    f"{shard}, which had {count} as it was begun"
                )

    def _watch_model(self, real: Any) -> Any:
        def restore(model: Model, session: Any, shards: Any) -> Any:
            committed = self._committed
            checkpoint = real(model, session, shards)
            self._look_at_checkpoint(checkpoint, committed)
            values = {} if checkpoint is None else _read(checkpoint)
            self._simulation.scheduler.here.process.state[_RESTORED] = values
            return checkpoint

        return restore

    def _watch_leader(self, real: Any) -> Any:
        def restore(leader: Leader, ready: Plan, lost: set[int], change: Any) -> None:
            real(leader, ready, lost, change)
            values = self._simulation.scheduler.here.process.state.pop(_RESTORED)
            self._restores[ready.version] = _Restore(set(lost), values)

        return restore

    def _look_at_checkpoint(self, prefix: str | None, committed: int) -> None:
        number = -1 if prefix is None else self._saves.get(prefix, -1)
        if number < committed:
            self.breaks(
                f"checkpoint {committed} was lost: {prefix}, {number}, is the newest"
            )

    def look_at_the_end(self, directory: str) -> None:
        """The last checkpoint is there, and whole."""
        import tensorloom as tf

        latest = tf.train.latest_checkpoint(directory)
        self._look_at_checkpoint(latest, self._committed)
        if latest is not None:
            _read(latest)

    def facts(self) -> dict[str, Any]:
        """What there was to look at."""
        return {
            "steps": self.steps,
            "lost_steps": self.lost_steps,
            "failed_sessions": self.failed_sessions,
            "saves": self.saves,
            "plans": self.plans,
            "moved": self.moved,
            "restored": self.restored,
        }


def _read(prefix: str) -> dict[str, float]:
    """All variables of a checkpoint."""
    import tensorloom as tf

    reader = tf.train.load_checkpoint(prefix)
    return {
        name: float(reader.get_tensor(name))
        for name in reader.get_variable_to_shape_map()
    }
