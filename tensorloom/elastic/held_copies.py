"""Copies of shards that workers hold: newer than the checkpoint when a server dies."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.elastic import shards
from tensorloom.elastic.copying import (
    Copy,
    Place,
    copy_variables,
    place_of,
    read_marks,
    set_mark,
)
from tensorloom.elastic.placed_session import filtered, task_of
from tensorloom.framework import errors
from tensorloom.framework.devices.device_spec import DeviceSpec
from tensorloom.framework.runtime import concurrency
from tensorloom.train import training_util
from tensorloom.train.checkpoints.checkpoint_utils import load_checkpoint

if TYPE_CHECKING:
    import threading

    from tensorloom.cluster.server import Server
    from tensorloom.elastic.gate import Gate
    from tensorloom.elastic.job import Job
    from tensorloom.elastic.plan import Plan
    from tensorloom.framework.graph.graph import Graph

# Less than the step of any copy.
_NONE = -1
_PREFIX = "elastic.held."


class HeldCopies:
    """Copies shards to the workers now and then, each to one of them.

    Args:
      job: the job.
      server: this worker's task.
      config: a `tf.ConfigProto` for its sessions.
      every_s: how often.
    """

    def __init__(self, job: Job, server: Server, config: Any, every_s: float) -> None:
        self._job = job
        self._server = server
        self._config = config
        self._every_s = every_s
        self._whole: dict[int, int] = {}  # which of two copies of a shard is
        self._over = concurrency.Event()
        self._thread: threading.Thread | None = None

    def start(self, gate: Gate, worker: str, graph: Graph) -> None:
        """Begins to copy.

        Args:
          gate: has the session that steps run in.
          worker: this one's name.
          graph: the program's.
        """
        self._gate, self._worker = gate, worker
        self._stored = shards.stored(graph)
        self._step = training_util.get_global_step(graph)
        self._thread = concurrency.Thread(
            target=self._copy_again, name="tensorloom-elastic-copies", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ends."""
        self._over.set()

    def join(self) -> None:
        """Waits for the end; the gate is closed by then."""
        if self._thread is not None:
            self._thread.join()
        held = [n for n in self._server.containers() if n.startswith(_PREFIX)]
        self._server.clear(held)

    def _copy_again(self) -> None:
        while not self._over.wait(self._every_s):
            # A server that is lost meanwhile: the next copy finds its shards elsewhere.
            with suppress(errors.OpError, RuntimeError):
                self.copy()

    def copy(self) -> None:
        """Copies the shards that are this worker's to hold.

        Nobody waits for it: it reads alone, and what it reads may move meanwhile.

        Raises:
          errors.OpError, RuntimeError: shards moved, or a server was lost.
        """
        steps = self._gate.steps
        if steps is None or not self._gate.is_open or steps.has_failed:
            return
        plan, worker = steps.plan, self._worker
        workers = sorted(self._job.workers())
        if worker not in workers:
            return
        rank, count = workers.index(worker), len(workers)
        own = task_of(self._server)
        alone = filtered(self._config, own, ())
        for shard, home in sorted(plan.homes.items()):
            stored = [one for one in self._stored if one.shard == shard]
            if shard % count != rank or not stored:
                continue
            # Only a server that is there can give something newer than the copy.
            record = self._job.servers().get(home.server)
            if self._over.is_set() or record is None or record.life != home.life:
                return
            step = self._step
            number = 0 if step is None else int(steps.session.run(step))
            # The last whole copy stays until this one is whole.
            last = self._whole.get(shard, 1)
            held = _held(own, shard, 1 - last)
            self._server.clear([held.container])
            copies = [Copy(one, place_of(shard, home), held) for one in stored]
            config = filtered(self._config, own, [home.server])
            copy_variables(self._server.target, config, copies)
            # A server drops what a later plan has elsewhere, and none but that.
            if self._job.plan() == plan:
                set_mark(self._server.target, alone, held, number)
                self._whole[shard] = 1 - last
                self._server.clear([_held(own, shard, last).container])

    def give_back(
        self, plan: Plan, lost: Collection[int], graph: Graph, checkpoint: str | None
    ) -> list[int]:
        """Restores from copies that are newer than the checkpoint.

        Args:
          plan: where the shards are to be.
          lost: the shards whose server was lost.
          graph: the program's.
          checkpoint: which they were restored from, if there is one.

        Returns:
          The shards that were.

        Raises:
          errors.OpError: a task was lost.
        """
        step = training_util.get_global_step(graph)
        workers = self._job.workers().values()
        holders = {one["task"]: one["address"] for one in workers}
        for task, address in holders.items():
            spec = DeviceSpec.from_string(task)
            if task != task_of(self._server):
                self._server.update_cluster({spec.job: {spec.task: address}})
        places = [
            (shard, _held(task, shard, one))
            for shard in sorted(lost)
            for task in holders
            for one in (0, 1)
        ]
        config = filtered(
            self._config, task_of(self._server), plan.addresses, list(holders)
        )
        asked = [place for _, place in places]
        marks = read_marks(self._server.target, config, asked)
        newest: dict[int, tuple[int, Place]] = {}
        least = _step_of(checkpoint, step)
        for (shard, place), mark in zip(places, marks, strict=True):
            if mark is not None and mark > newest.get(shard, (least, place))[0]:
                newest[shard] = mark, place
        copies = [
            Copy(
                one,
                newest[one.shard][1],
                place_of(one.shard, home),
            )
            for one in shards.stored(graph)
            if one.shard in newest
            for home in (plan.homes[one.shard],)
        ]
        copy_variables(self._server.target, config, copies)
        if read_marks(self._server.target, config, asked) != marks:
            raise errors.AbortedError(None, None, "Copies that workers hold changed")
        for shard, (mark, place) in sorted(newest.items()):
            program_log.info(
                "Shard %d is restored from step %d, as %s holds it.",
                shard,
                mark,
                place.device,
            )
        return sorted(newest)


def _held(task: str, shard: int, one: int) -> Place:
    """One of the two places of a shard's copies at a task."""
    return Place(f"{task}/device:CPU:0", f"{_PREFIX}{shard}.{one}")


def _step_of(checkpoint: str | None, step: Any) -> int:
    """The global step in a checkpoint; less than any without one."""
    if checkpoint is None or step is None:
        return _NONE
    reader = load_checkpoint(checkpoint)
    name = step.op.name
    if not reader.has_tensor(name):
        return _NONE
    return int(np.asarray(reader.get_tensor(name)))
