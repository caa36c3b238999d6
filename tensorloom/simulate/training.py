"""A training with parameter servers, in which processes die and links break.

Its programs are written as those of users: sessions in a retry loop, a `Saver`, one
chief by a lock. They count what they do, so that `Promises` can be checked.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from unittest import mock

from tensorloom.coordination import writers
from tensorloom.coordination.coordinator import VARIABLE, Coordinator
from tensorloom.framework import errors
from tensorloom.simulate.faults import Fault, FaultMaker, draw
from tensorloom.simulate.files import SharedDisk
from tensorloom.simulate.lock_service import LockService, LockServiceState, SimStore
from tensorloom.simulate.network import Costs
from tensorloom.simulate.promises import Promises
from tensorloom.simulate.scheduler import Process, Stuck
from tensorloom.simulate.simulation import Simulation
from tensorloom.simulate.task import SimTask, cluster_of

if TYPE_CHECKING:
    from tensorloom.client.session.session import Session

_PS: Final = 2
_WORKERS: Final = 2
_STEPS: Final = 30  # of each worker
_STEP_S: Final = 1.0
_SAVE_EVERY: Final = 4
_LEASE_S: Final = 5.0
_TASK_TIMEOUT_S: Final = 20.0
_LIMIT_S: Final = 3600.0
_LOCKS: Final = "locks0"
# After which a program begins again with a new session.
LOST: Final = (
    errors.UnavailableError,
    errors.AbortedError,
    errors.FailedPreconditionError,
    errors.CancelledError,
    errors.DeadlineExceededError,
)

# Faults meet more of what takes longer: so some networks and disks are slow.
_LATENCIES_S: Final = (0.5e-3, 20e-3)
_JITTER: Final = 10.0  # latencies, at most
_LOSSES: Final = (0.0, 0.0, 0.0, 0.05)
_DISK_S: Final = (0.004, 0.1)

HOSTS: Final = (
    *(f"ps{i}" for i in range(_PS)),
    *(f"worker{i}" for i in range(_WORKERS)),
    _LOCKS,
)


@dataclass
class _Model:
    """The graph of a worker, with what it runs."""

    graph: Any
    init: Any
    uninitialized: Any
    train: Any
    step: Any
    saver: Any


def _model(worker: int) -> _Model:
    """A counter for each worker at each parameter server, and a global step."""
    import tensorloom as tf

    with tf.Graph().as_default() as graph:
        counters = []
        for ps in range(_PS):
            with tf.device(f"/job:ps/task:{ps}"):
                counters.append(
                    [
                        tf.Variable(0.0, name=f"counter_{ps}_{w}")
                        for w in range(_WORKERS)
                    ]
                )
        with tf.device("/job:ps/task:0"):
            step = tf.Variable(0, dtype=tf.int64, name="global_step")
        added = [tf.assign_add(own[worker], 1.0) for own in counters]
        with tf.control_dependencies(added):
            counted = tf.assign_add(step, 1)
        return _Model(
            graph,
            tf.global_variables_initializer(),
            tf.report_uninitialized_variables(),
            [counted, *added],
            step,
            tf.train.Saver(sharded=True, max_to_keep=3),
        )


@dataclass
class Outcome:
    """How a run went."""

    seed: int
    faults: Sequence[Fault]
    broken: list[str]
    facts: dict[str, Any]
    digest: int

    def __str__(self) -> str:
        lines = [f"seed {self.seed}: " + ("; ".join(self.broken) or "all was kept")]
        return "\n  ".join([*lines, *map(str, self.faults)])


class Training:
    """One run.

    Args:
      seed: of the run.
      directory: for the checkpoints.
    """

    def __init__(self, seed: int, directory: str) -> None:
        costs, disk_s = draw_costs(seed)
        self._simulation = Simulation(seed, costs, switches=0.02, limit_s=_LIMIT_S)
        self._directory = directory
        self.promises = Promises(self._simulation, directory)
        self._disk = SharedDisk(
            self._simulation.scheduler, disk_s, self.promises.published
        )
        self._cluster = cluster_of({"ps": _PS, "worker": _WORKERS})
        self._processes: dict[str, Process] = {}
        self._locks = LockServiceState()
        self._done: dict[int, int] = dict.fromkeys(range(_WORKERS), 0)  # steps

    def run(self, faults: Sequence[Fault]) -> Outcome:
        """Runs the training with these faults."""
        simulation = self._simulation
        broken = self.promises.broken
        makers = FaultMaker(simulation, self._processes, self._start)
        environment = {VARIABLE: SimStore.name}
        with mock.patch.dict(os.environ, environment), self._disk.mounted():
            try:
                simulation.run(lambda: self._main(faults, makers))
            except Stuck as error:
                broken.append(f"a wait does not end: {error}")
        broken += [str(failure) for failure in simulation.scheduler.failures]
        facts = {
            **self.promises.facts(),
            "faults": makers.made,
            "seconds": round(simulation.now, 3),
            "messages": simulation.network.messages,
        }
        digest = simulation.scheduler.digest
        return Outcome(simulation.seed, faults, broken, facts, digest)

    # --- processes -------------------------------------------------------------------

    def _main(self, faults: Sequence[Fault], makers: FaultMaker) -> None:
        for host in HOSTS:
            self._start(host)
        makers.schedule(faults)
        while min(self._done.values()) < _STEPS:
            self._simulation.sleep(0.5)
            self.promises.look_for_chiefs()
        self._look_at_the_end()

    def _start(self, host: str) -> None:
        if host == _LOCKS:
            program = self._run_locks
        elif host.startswith("ps"):
            self.promises.variables_change()
            program = self._run_ps
        else:
            program = self._run_worker
        index = int(host[-1])
        self._processes[host] = self._simulation.start(host, lambda: program(index))

    def _run_locks(self, index: int) -> None:
        LockService(self._simulation, self._locks)

    def _run_ps(self, index: int) -> None:
        SimTask(self._simulation, self._cluster, "ps", index)

    def _run_worker(self, index: int) -> None:
        task = SimTask(self._simulation, self._cluster, "worker", index)
        model = _model(index)
        store = SimStore(self._simulation, _LEASE_S)
        writers._coordinators[SimStore.name] = Coordinator(store)
        while self._done[index] < _STEPS:
            try:
                self._train(task, model, index)
            except LOST:
                self._simulation.sleep(1.0)
        claim = self._claim()
        if claim is not None:
            claim.release()

    def _claim(self) -> Any:
        """Becomes the chief, if no other process is."""
        try:
            claim = writers.claim(self._directory, wait=False)
        except LOST:
            return None
        if claim is not None:
            self.promises.is_chief(claim)
        return claim

    # --- the program -----------------------------------------------------------------

    def _train(self, task: SimTask, model: _Model, index: int) -> None:
        import tensorloom as tf

        claim = self._claim()
        filters = ["/job:ps", f"/job:worker/task:{index}"]
        config = tf.ConfigProto(device_filters=filters)
        if claim is not None:
            config = writers.fenced(self._directory, config)
        session = tf.Session(task.target, graph=model.graph, config=config)
        try:
            if claim is not None:
                self._begin(session, model, claim)
            elif not self._wait_for_chief(session, model):
                return
            for count in range(1, 10 * _STEPS):
                self._step(session, model, index)
                if claim is not None and count % _SAVE_EVERY == 0:
                    self._save(session, model)
                if self._done[index] >= _STEPS:
                    return
                if claim is None and count % 8 == 0 and self._claim() is not None:
                    return  # and begin again, as the chief
                self._simulation.compute(_STEP_S)
        finally:
            with suppress(errors.OpError):
                session.close()

    def _begin(self, session: Session, model: _Model, claim: Any) -> None:
        """Restores the last checkpoint, or initializes."""
        import tensorloom as tf

        committed = self.promises.committed
        latest = tf.train.latest_checkpoint(self._directory)
        writers.check(self._directory)
        with self.promises.variables_changing(claim.fence.token):
            if latest is None:
                session.run(model.init)
                step = -1
            else:
                model.saver.restore(session, latest)
                step = int(latest.rpartition("-")[2])
        self.promises.restored(step, committed)

    def _wait_for_chief(self, session: Session, model: _Model) -> bool:
        for _ in range(10):
            if not len(session.run(model.uninitialized)):
                return True
            self._simulation.sleep(1.0)
        return False

    def _step(self, session: Session, model: _Model, index: int) -> None:
        self.promises.step_begins(index)
        _, *counters = session.run(model.train)
        self._done[index] += 1
        self.promises.step_ended(index, [float(value) for value in counters])

    def _save(self, session: Session, model: _Model) -> None:
        step = int(session.run(model.step))
        prefix = os.path.join(self._directory, "model")
        model.saver.save(session, prefix, global_step=step, write_meta_graph=False)
        self.promises.saved(step)

    def _look_at_the_end(self) -> None:
        """The last checkpoint is there, and whole."""
        import tensorloom as tf

        latest = tf.train.latest_checkpoint(self._directory)
        if latest is None:
            self.promises.restored(-1, self.promises.committed)
            return
        reader = tf.train.load_checkpoint(latest)
        for name in reader.get_variable_to_shape_map():
            reader.get_tensor(name)
        step = int(latest.rpartition("-")[2])
        self.promises.restored(step, self.promises.committed)


def draw_costs(seed: int) -> tuple[Costs, float]:
    """What messages, and operations of the disk, take in a run."""
    dice = random.Random(f"costs {seed}")
    latency_s = dice.choice(_LATENCIES_S)
    costs = Costs(
        latency_s,
        _JITTER * latency_s,
        loss=dice.choice(_LOSSES),
        task_timeout_s=_TASK_TIMEOUT_S,
    )
    return costs, dice.choice(_DISK_S)


def run_seed(seed: int, faults: Sequence[Fault] | None = None) -> Outcome:
    """One run; the same seed is the same run.

    Args:
      seed: of the run, and of the faults if there are none given.
      faults: what fails.
    """
    if faults is None:
        faults = draw(seed, HOSTS)
    memory = "/dev/shm"
    base = memory if os.path.isdir(memory) and os.access(memory, os.W_OK) else None
    # The name's length is the same each time: it is in messages.
    directory = tempfile.mkdtemp(prefix="tensorloom-", dir=base)
    try:
        return Training(seed, directory).run(faults)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
