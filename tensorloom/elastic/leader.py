"""The leader of a job: it makes a new plan when servers come, leave or die.

One worker leads, whichever has the lock; another takes over when it dies. A change is

1. a plan that is not ready: the workers end their steps and pause;
2. copies of the shards that move, to containers of the new version, and restored values
   for those whose server died. The old copies stay as they are;
3. the plan that is ready. From then on the old copies are nobody's, and their servers
   drop them.

So a leader, or a server, that dies in the middle leaves everything as it was in 1, and
the change is made again, with another version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.program import program_log
from tensorloom.elastic import shards
from tensorloom.elastic.balance import balanced
from tensorloom.elastic.copying import Copy, copy_variables, place_of
from tensorloom.elastic.placed_session import (
    PlacedSession,
    filtered,
    task_of,
    tell_of_servers,
)
from tensorloom.elastic.plan import Home, Plan
from tensorloom.elastic.restoring import report
from tensorloom.elastic.row_sizes import MeasuredTables
from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency

if TYPE_CHECKING:
    from tensorloom.cluster.server import Server
    from tensorloom.elastic.held_copies import HeldCopies
    from tensorloom.elastic.job import Job, ServerRecord
    from tensorloom.elastic.restoring import Model

_AGAIN_S: Final = 1.0


class Leader:
    """Leads while it has the lock.

    Args:
      job: the job.
      server: this worker's task.
      model: what is trained.
      config: a `tf.ConfigProto` for its sessions.
      first_servers: how many servers the first plan waits for.
      held: the copies that workers hold, if they do.
    """

    def __init__(
        self,
        job: Job,
        server: Server,
        model: Model,
        config: Any,
        first_servers: int,
        held: HeldCopies | None,
    ) -> None:
        self._job = job
        self._server = server
        self._model = model
        self._config = config
        self._first_servers = first_servers
        self._held = held
        self._shards = shards.shards_of(model.graph)
        self._fixed = shards.fixed_shards(model.graph)
        self._variables = shards.stored_variables(model.graph)
        tables = shards.stored_tables(model.graph)
        self._measured = MeasuredTables(server, config, tables)
        self._patient_until = 0.0
        self._over = concurrency.Event()
        self._thread = concurrency.Thread(
            target=self._lead, name="tensorloom-elastic-leader", daemon=True
        )

    def start(self) -> None:
        """Begins to lead, or to wait for the lock."""
        self._thread.start()

    def stop(self) -> None:
        """Gives the lock back; waits until a change that is being made is over."""
        self._over.set()
        self._thread.join()
        try:
            self._job.lock.release()
        except errors.UnavailableError as error:
            program_log.warning("%s; its lease will end", error.message)

    def _lead(self) -> None:
        while not self._over.wait(self._job.coordinator.poll_s()):
            try:
                if self._has_lock():
                    self._look()
            except Exception as error:
                if self._job.coordinator.is_closed:
                    return
                # Whatever it is: the workers pause, and this one has the lock.
                program_log.warning(
                    "%s: %s; the plan is changed again", type(error).__name__, error
                )
                self._over.wait(_AGAIN_S)

    def _has_lock(self) -> bool:
        lock = self._job.lock
        if lock.is_held:
            return True
        if not lock.acquire(timeout_s=0, note="leads an elastic job"):
            return False
        # Servers that lost their leases with the service, as the last leader did, may
        # take them again first. One that begins the job has seen them all.
        takes_over = self._job.plan() is not None
        self._patient_until = concurrency.monotonic() + takes_over * self._job.lease_s
        return True

    def _look(self) -> None:
        plan = self._job.plan()
        # In this order: one that has left is in neither, or among those that leave.
        leaving = self._job.leaving()
        servers = self._job.servers()
        usable = {i for i, one in servers.items() if one.life not in leaving}
        if plan is None:
            if len(usable) >= self._first_servers:
                self._begin(servers, usable)
            return
        alive = {
            shard: home
            for shard, home in plan.homes.items()
            if home.server in servers and servers[home.server].life == home.life
        }
        if not usable and not (plan.is_ready and len(alive) == len(plan.homes)):
            # All want to leave, and workers wait: the shards stay with some of them.
            usable = set(servers)
        is_patient = concurrency.monotonic() < self._patient_until
        if not usable or (is_patient and len(alive) < len(plan.homes)):
            return
        now = {shard: home.server for shard, home in alive.items()}
        self._measured.update(alive, usable, servers)
        target = balanced(self._sizes(), now, usable, self._fixed)
        if not plan.is_ready or target != {
            shard: home.server for shard, home in alive.items()
        }:
            self._change(_Change(plan, alive, target, servers))

    def _begin(self, servers: Mapping[int, ServerRecord], usable: set[int]) -> None:
        placed = balanced(self._sizes(), {}, usable)
        homes = {
            shard: Home(index, servers[index].life, 1)
            for shard, index in placed.items()
        }
        plan = Plan(1, True, homes, _addresses(homes, servers))
        with self._session(plan) as session:
            self._model.begin(session)
        self._job.publish(plan)

    def _sizes(self) -> dict[int, int]:
        return shards.sizes(self._shards, self._stored())

    def _stored(self) -> list[shards.Stored | shards.StoredTable]:
        return [*self._variables, *self._measured.tables]

    def _change(self, change: _Change) -> None:
        plan, version = change.plan, change.version
        self._job.publish(replace(plan, version=version, is_ready=False))
        self._wait_for_pause(version)
        began = concurrency.monotonic()
        homes = change.homes()
        ready = Plan(version, True, homes, _addresses(homes, change.servers))
        moved = self._move(change, ready)
        lost = homes.keys() - change.alive.keys()
        if lost:
            self._restore(ready, lost, change)
        self._job.publish(ready)
        program_log.info(
            "Plan %d: %d shards on parameter servers %s; %.1f MB moved, %d shards "
            "restored, in %.2f s.",
            version,
            len(homes),
            ", ".join(map(str, sorted(ready.addresses))),
            moved / 1e6,
            len(lost),
            concurrency.monotonic() - began,
        )

    def _wait_for_pause(self, version: int) -> None:
        """Waits for all workers that are there; who comes later reads the plan first.

        Raises:
          errors.AbortedError: another process leads by now.
        """
        while not self._over.is_set():
            if self._job.workers().keys() <= self._job.paused(version):
                return
            self._job.lock.check()
            self._over.wait(self._job.coordinator.poll_s())
        raise errors.CancelledError(None, None, "This worker ends")

    def _move(self, change: _Change, ready: Plan) -> int:
        """Copies what moves; returns the bytes."""
        moving = change.moving()
        for shard in sorted(moving.keys() & self._fixed.keys()):
            program_log.warning(
                "The state of %r, on shard %d, stays behind: only variables move.",
                self._fixed[shard],
                shard,
            )
        copies = [
            Copy(one, place_of(one.shard, moving[one.shard]), place_of(one.shard, home))
            for one in self._stored()
            if one.shard in moving
            for home in (ready.homes[one.shard],)
        ]
        tell_of_servers(self._server, change.addresses())
        config = filtered(self._config, task_of(self._server), change.addresses())
        return copy_variables(self._server.target, config, copies)

    def _restore(self, ready: Plan, lost: set[int], change: _Change) -> None:
        with self._session(ready) as session:
            checkpoint = self._model.restore(session, lost)
        gone = sorted({change.plan.homes[s].server for s in lost & change.known()})
        report(lost, gone, checkpoint)
        if self._held is not None:
            self._held.give_back(ready, lost, self._model.graph, checkpoint)

    def _session(self, plan: Plan) -> PlacedSession:
        own = f"elastic.leader.{plan.version}"
        return PlacedSession(self._server, self._model.graph, self._config, plan, own)


@dataclass(frozen=True)
class _Change:
    """From one plan to the next."""

    plan: Plan
    alive: Mapping[int, Home]  # the shards whose server is there
    target: Mapping[int, int]  # the server of each shard
    servers: Mapping[int, ServerRecord]

    @property
    def version(self) -> int:
        """That of the next plan."""
        return self.plan.version + 1

    def known(self) -> set[int]:
        """The shards that had a home."""
        return set(self.plan.homes)

    def moving(self) -> dict[int, Home]:
        """Where the shards are that move."""
        return {
            shard: home
            for shard, home in self.alive.items()
            if self.target[shard] != home.server
        }

    def homes(self) -> dict[int, Home]:
        """The homes in the next plan."""
        found = {}
        for shard, index in self.target.items():
            home = self.alive.get(shard)
            if home is None or home.server != index:
                home = Home(index, self.servers[index].life, self.version)
            found[shard] = home
        return found

    def addresses(self) -> dict[int, str]:
        """The addresses of the servers that have shards now or then."""
        wanted = {home.server for home in self.alive.values()} | {*self.target.values()}
        return {index: self.servers[index].address for index in sorted(wanted)}


def _addresses(
    homes: Mapping[int, Home], servers: Mapping[int, ServerRecord]
) -> dict[int, str]:
    wanted = sorted({home.server for home in homes.values()})
    return {index: servers[index].address for index in wanted}
