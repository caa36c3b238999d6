"""An elastic training, whose servers and workers join, leave and die meanwhile.

Its programs are those of users: `ElasticServer` and `elastic.MonitoredTrainingSession`.
Each worker has variables of its own on each shard, with a slot each, and counts what it
does, so that `ElasticPromises` can be checked.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from base64 import b64decode
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final
from unittest import mock

from tensorloom.coordination import writers
from tensorloom.coordination.coordinator import VARIABLE, Coordinator
from tensorloom.elastic.serving import ElasticServer
from tensorloom.elastic.session import StepLostError
from tensorloom.elastic.training import MonitoredTrainingSession
from tensorloom.simulate.elastic_promises import PLAN, ElasticPromises, name_of
from tensorloom.simulate.faults import Fault, FaultMaker, draw
from tensorloom.simulate.files import SharedDisk
from tensorloom.simulate.lock_service import LockService, LockServiceState, SimStore
from tensorloom.simulate.scheduler import Process, Stuck
from tensorloom.simulate.simulation import Simulation
from tensorloom.simulate.task import PORT, SimTask
from tensorloom.simulate.training import LOST, Outcome, draw_costs
from tensorloom.train.cluster_spec import ClusterSpec

if TYPE_CHECKING:
    from collections.abc import Callable

SHARDS: Final = 4
_STEPS: Final = 20  # of each worker
_STEP_S: Final = 1.0
_SAVE_EVERY: Final = 4
_LEASE_S: Final = 5.0
_LIMIT_S: Final = 3600.0
# Who is told to end, when nobody needs it any more, has ended so long after.
_END_S: Final = 300.0
_LOCKS: Final = "locks0"
SERVERS: Final = tuple(f"ps{i}" for i in range(3))
WORKERS: Final = tuple(f"worker{i}" for i in range(3))
HOSTS: Final = (*SERVERS, *WORKERS, _LOCKS)
_PERIOD_S: Final = 30.0
_CALM: Final = 0.25
_LATER: Final = 0.4


def draw_schedule(seed: int) -> list[Fault]:
    """Who joins and leaves in the run of a seed, and, mostly, what fails beside."""
    dice = random.Random(f"elastic {seed}")
    made = [
        Fault(round(dice.uniform(0.0, _PERIOD_S), 3), "join", (host,), 0.0)
        for host in ("ps1", "ps2", "worker1", "worker2")
        if dice.random() < _LATER
    ]
    # The chief stays: who else would save?
    for _ in range(dice.randint(0, 3)):
        host = dice.choice((*SERVERS, *SERVERS, *WORKERS[1:]))
        at, lasts_s = dice.uniform(0.0, _PERIOD_S), 10 ** dice.uniform(-1.0, 1.5)
        made.append(Fault(round(at, 3), "leave", (host,), round(lasts_s, 3)))
    if not made or dice.random() >= _CALM:
        made += draw(seed, HOSTS)
    return sorted(made)


class _WatchedLocks(LockService):
    """A lock service that shows each plan that it keeps."""

    def __init__(
        self,
        simulation: Simulation,
        state: LockServiceState,
        published: Callable[[bytes], None],
    ) -> None:
        super().__init__(simulation, state, is_quick=True)
        self._published = published

    def _keep(self, name: str, value: str, key: str, token: int) -> bool:
        is_kept = super()._keep(name, value, key, token)
        if is_kept and name == PLAN:
            self._published(b64decode(value))
        return is_kept


class _Program:
    """The graph of a worker, with what it runs."""

    def __init__(self, worker: int) -> None:
        import tensorloom as tf

        with tf.Graph().as_default() as self.graph:
            with tf.device("/job:ps/task:0"):
                self.step = tf.train.get_or_create_global_step()
            optimizer = tf.train.MomentumOptimizer(1.0, momentum=1.0)
            with tf.device(f"/job:worker/task:{worker}"):
                self.fed = tf.placeholder(tf.float32, [])
                gradient = tf.negative(self.fed)
            for index in range(len(WORKERS)):
                own = [self._variable(shard, index) for shard in range(SHARDS)]
                # The slots of all are there for all, as all build the same variables.
                train = optimizer.apply_gradients(
                    [(gradient, v) for v in own],
                    self.step if index == worker else None,
                )
                if index == worker:
                    self._add_step(optimizer, own, train)
            self.saver = tf.train.Saver(sharded=True, max_to_keep=3)

    def _variable(self, shard: int, worker: int) -> Any:
        import tensorloom as tf

        with tf.device(f"/job:ps/task:{shard}"):
            return tf.get_variable(
                name_of(shard, worker),
                [],
                initializer=tf.zeros_initializer(),
                use_resource=(shard + worker) % 2 == 1,
            )

    def _add_step(self, optimizer: Any, own: Any, train: Any) -> None:
        import tensorloom as tf

        with tf.control_dependencies([train]):
            values = [v.read_value() for v in own]
            slots = [optimizer.get_slot(v, "momentum").read_value() for v in own]
        #: A step, with what each shard has of this worker after it.
        self.train = [values, slots]


class ElasticTraining:
    """One run.

    Args:
      seed: of the run.
      directory: for the checkpoints.
    """

    def __init__(self, seed: int, directory: str) -> None:
        costs, disk_s = draw_costs(seed)
        dice = random.Random(f"options {seed}")
        self._staleness = dice.choice((None, None, None, 2))
        self._held_copies_s = dice.choice((None, 4.0))
        self._simulation = Simulation(seed, costs, switches=0.02, limit_s=_LIMIT_S)
        self._directory = directory
        self._promises = ElasticPromises(
            self._simulation,
            SHARDS,
            len(WORKERS),
            holds_copies=bool(self._held_copies_s),
        )
        self._disk = SharedDisk(self._simulation.scheduler, disk_s, lambda path: None)
        self._processes: dict[str, Process] = {}
        self._locks = LockServiceState()
        self._done: dict[int, int] = dict.fromkeys(range(len(WORKERS)), 0)  # steps
        # Those that were told to end: how long after that to start them again.
        self._leaving: dict[Process, float] = {}
        self._members: dict[Process, ElasticServer] = {}
        self._working: set[Process] = set()
        self._is_over = False

    def run(self, faults: Sequence[Fault]) -> Outcome:
        """Runs the training with these changes and faults."""
        simulation, promises = self._simulation, self._promises
        kinds = {fault.kind for fault in faults}
        promises.is_calm = (
            kinds <= {"join", "leave"} and not simulation.network.costs.loss
        )
        makers = FaultMaker(simulation, self._processes, self._start, self._leave)
        with ExitStack() as stack:
            environment = {VARIABLE: SimStore.name}
            stack.enter_context(mock.patch.dict(os.environ, environment))
            stack.enter_context(self._disk.mounted())
            stack.enter_context(promises.watching())
            try:
                simulation.run(lambda: self._main(faults, makers))
            except Stuck as error:
                promises.broken.append(f"a wait does not end: {error}")
        promises.broken += [str(failure) for failure in simulation.scheduler.failures]
        facts = {
            **promises.facts(),
            "faults": makers.made,
            "seconds": round(simulation.now, 3),
            "messages": simulation.network.messages,
        }
        digest = simulation.scheduler.digest
        return Outcome(simulation.seed, faults, promises.broken, facts, digest)

    def _main(self, faults: Sequence[Fault], makers: FaultMaker) -> None:
        later = {fault.hosts[0] for fault in faults if fault.kind == "join"}
        for host in HOSTS:
            if host not in later:
                self._start(host)
        makers.schedule(faults)
        while min(self._done.values()) < _STEPS and not self._is_broken:
            self._simulation.sleep(0.5)
            self._promises.look()
        if not self._is_broken:
            self._end()

    @property
    def _is_broken(self) -> bool:
        return bool(self._promises.broken or self._simulation.scheduler.failures)

    def _end(self) -> None:
        """All workers have ended; so the servers may, and are told to."""
        self._is_over = True
        ends = self._simulation.now + _END_S
        while True:
            left = [
                process
                for process in self._processes.values()
                if not process.is_dead and process in (*self._members, *self._working)
            ]
            for process in left:
                if process in self._members:
                    self._leave(process, 0.0)
            if not left:
                break
            if self._simulation.now > ends:
                names = ", ".join(sorted(process.name for process in left))
                self._promises.breaks(f"{names} do not end when they are told to")
                break
            self._simulation.sleep(1.0)
        self._promises.look_at_the_end(self._directory)

    # --- processes -------------------------------------------------------------------

    def _start(self, host: str) -> None:
        old = self._processes.get(host)
        is_unwanted = self._is_over and host != _LOCKS
        if is_unwanted or (old is not None and not old.is_dead):
            return
        if host == _LOCKS:
            program = self._run_locks
        elif host in SERVERS:
            program = self._run_server
        else:
            program = self._run_worker
        index = int(host[-1])
        self._processes[host] = self._simulation.start(host, lambda: program(index))

    def _leave(self, process: Process, later_s: float) -> None:
        """Tells a process to end."""
        self._leaving.setdefault(process, later_s)
        member = self._members.get(process)
        if member is not None:
            # In a strand of it, for it may have to wait.
            self._simulation.scheduler.spawn(member.leave, "SIGTERM", process)

    def _exit(self) -> None:
        """The end of the process that runs."""
        process = self._simulation.scheduler.here.process
        again_s = self._leaving.get(process)
        self._simulation.network.kill(process)
        if again_s is not None:
            self._simulation.scheduler.after(again_s, lambda: self._start(process.name))
        self._simulation.sleep(0.0)

    def _task(self, job: str, index: int) -> SimTask:
        """A task that knows of no other, and has a way to the lock service."""
        cluster = ClusterSpec({job: {index: f"{job}{index}:{PORT}"}})
        store = SimStore(self._simulation, _LEASE_S)
        writers._coordinators[SimStore.name] = Coordinator(store)
        return SimTask(self._simulation, cluster, job, index)

    def _run_locks(self, index: int) -> None:
        _WatchedLocks(self._simulation, self._locks, self._promises.published)

    def _run_server(self, index: int) -> None:
        task: Any = self._task("ps", index)
        process = self._simulation.scheduler.here.process
        member = ElasticServer(task)
        self._promises.lives(member._life, process, task)
        self._members[process] = member
        if process in self._leaving:
            member.leave()
        member.wait()
        self._promises.server_ended()
        if process not in self._leaving:
            self._promises.breaks(f"{process.name} ends though nobody told it to")
        member.stop()
        self._exit()

    def _run_worker(self, index: int) -> None:
        task = self._task("worker", index)
        process = self._simulation.scheduler.here.process
        self._working.add(process)
        while self._done[index] < _STEPS and process not in self._leaving:
            try:
                self._train(task, index)
            except LOST as error:
                self._promises.session_failed(error)
                self._simulation.sleep(1.0)
        self._working.discard(process)
        self._exit()

    # --- the program -----------------------------------------------------------------

    def _train(self, task: Any, index: int) -> None:
        import tensorloom as tf

        program = _Program(index)
        process = self._simulation.scheduler.here.process
        is_chief = index == 0
        with (
            program.graph.as_default(),
            MonitoredTrainingSession(
                task,
                is_chief=is_chief,
                checkpoint_dir=self._directory,
                scaffold=tf.train.Scaffold(saver=program.saver),
                save_checkpoint_secs=None,
                save_summaries_steps=None,
                log_step_count_steps=None,
                max_staleness=self._staleness,
                held_copies_secs=self._held_copies_s,
            ) as session,
            self._promises.session_is_open(),
        ):
            count = 0
            while self._done[index] < _STEPS and process not in self._leaving:
                count += 1
                try:
                    self._step(session, program, index)
                    if is_chief and count % _SAVE_EVERY == 0:
                        self._save(session, program)
                except StepLostError as error:
                    self._promises.step_lost(index, error)
                self._simulation.compute(_STEP_S)

    def _step(self, session: Any, program: _Program, index: int) -> None:
        self._promises.step_begins(index)
        values, slots = session.run(program.train, {program.fed: 1.0})
        self._done[index] += 1
        self._promises.step_ended(index, values, slots)

    def _save(self, session: Any, program: _Program) -> None:
        inner = session._tf_sess()
        step = int(inner.run(program.step))
        prefix = os.path.join(self._directory, "model")
        save = self._promises.save_begins(f"{prefix}-{step}")
        program.saver.save(inner, prefix, global_step=step, write_meta_graph=False)
        self._promises.saved(save)


def run_seed(seed: int, faults: Sequence[Fault] | None = None) -> Outcome:
    """One run; the same seed is the same run.

    Args:
      seed: of the run, and of the schedule if there is none given.
      faults: who joins and leaves, and what fails.
    """
    if faults is None:
        faults = draw_schedule(seed)
    memory = "/dev/shm"
    base = memory if os.path.isdir(memory) and os.access(memory, os.W_OK) else None
    # The name's length is the same each time: it is in messages.
    directory = tempfile.mkdtemp(prefix="tensorloom-", dir=base)
    try:
        return ElasticTraining(seed, directory).run(faults)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
