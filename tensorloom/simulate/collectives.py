"""Tasks that reduce values with each other, in which processes die and links break.

Each task has a session of its own, as in `MultiWorkerMirroredStrategy`. What each gives
in an attempt is different from all that it gave before; so a sum says whose attempts
are in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.simulate.faults import Fault, FaultMaker, draw
from tensorloom.simulate.scheduler import Process, Stuck
from tensorloom.simulate.simulation import Simulation
from tensorloom.simulate.task import SimTask, cluster_of
from tensorloom.simulate.training import LOST, Outcome, draw_costs

if TYPE_CHECKING:
    from tensorloom.client.session.session import Session

_TASKS: Final = 3
_ROUNDS: Final = 20  # that each task has the sum of, before all may end
_ROUND_S: Final = 1.0
# So long a step waits for a member that does not come.
_STEP_LIMIT_S: Final = 20.0
_LIMIT_S: Final = 3600.0
_LEADER: Final = "/job:worker/replica:0/task:0"
# Large ones go around a ring in pieces, small ones to all.
_SIZES: Final = (_TASKS, 48 * 1024)

HOSTS: Final = tuple(f"worker{i}" for i in range(_TASKS))


class Reducing:
    """One run.

    Args:
      seed: of the run.
    """

    def __init__(self, seed: int) -> None:
        costs, _ = draw_costs(seed)
        self._simulation = Simulation(seed, costs, switches=0.02, limit_s=_LIMIT_S)
        self._cluster = cluster_of({"worker": _TASKS})
        self._processes: dict[str, Process] = {}
        self._size = _SIZES[seed % 2]
        self._rounds = dict.fromkeys(range(_TASKS), 0)
        self._attempts = dict.fromkeys(range(_TASKS), 0)
        # By member and its attempt: the sum in which it is.
        self._sums: dict[tuple[int, int], tuple[int, ...]] = {}
        # By member and its attempt: the sum that it got.
        self._got: dict[tuple[int, int], tuple[int, ...]] = {}
        # By member: its first attempt after it was started last.
        self._first = dict.fromkeys(range(_TASKS), 1)
        self._failed = 0
        self.broken: list[str] = []

    def run(self, faults: Sequence[Fault]) -> Outcome:
        """Runs it with these faults."""
        simulation = self._simulation
        makers = FaultMaker(simulation, self._processes, self._start)
        try:
            simulation.run(lambda: self._main(faults, makers))
        except Stuck as error:
            self.broken.append(f"a wait does not end: {error}")
        self.broken += [str(failure) for failure in simulation.scheduler.failures]
        facts = {
            "rounds": sum(self._rounds.values()),
            "failed_steps": self._failed,
            "faults": makers.made,
            "seconds": round(simulation.now, 3),
            "messages": simulation.network.messages,
        }
        return Outcome(
            simulation.seed, faults, self.broken, facts, simulation.scheduler.digest
        )

    def _main(self, faults: Sequence[Fault], makers: FaultMaker) -> None:
        for host in HOSTS:
            self._start(host)
        makers.schedule(faults)
        while self._goes_on:
            self._simulation.sleep(0.5)

    @property
    def _goes_on(self) -> bool:
        return min(self._rounds.values()) < _ROUNDS

    def _start(self, host: str) -> None:
        index = int(host.removeprefix("worker"))
        self._processes[host] = self._simulation.start(host, lambda: self._work(index))

    def _work(self, index: int) -> None:
        self._first[index] = self._attempts[index] + 1
        task = SimTask(self._simulation, self._cluster, "worker", index)
        while self._goes_on:
            try:
                self._reduce(task, index)
            except LOST:
                self._failed += 1
                self._simulation.sleep(1.0)

    def _reduce(self, task: SimTask, index: int) -> None:
        """Rounds in a session, which ends with the first step that fails twice."""
        import tensorloom as tf

        config = tf.ConfigProto(device_filters=[f"/job:worker/task:{index}"])
        config.experimental.collective_group_leader = _LEADER
        with tf.Graph().as_default(), tf.device(f"/job:worker/task:{index}"):
            given = tf.placeholder(tf.float32, [self._size])
            total = tf.raw_ops.CollectiveReduce(
                input=given,
                group_size=_TASKS,
                group_key=1,
                instance_key=1,
                merge_op="Add",
                final_op="Id",
                subdiv_offsets=[],
            )
            session = tf.Session(task.target, config=config)
        try:
            failures = 0
            while self._goes_on and failures < 2:
                try:
                    self._round(session, given, total, index)
                    failures = 0
                except LOST:
                    failures += 1
                    self._failed += 1
                self._simulation.compute(_ROUND_S)
        finally:
            with suppress(errors.OpError):
                session.close()

    def _round(self, session: Session, given: Any, total: Any, index: int) -> None:
        import tensorloom as tf

        self._attempts[index] += 1
        attempt = self._attempts[index]
        value = np.zeros(self._size, np.float32)
        value[index::_TASKS] = attempt
        limit = tf.RunOptions(timeout_in_ms=int(1000 * _STEP_LIMIT_S))
        got = session.run(total, {given: value}, options=limit)
        self._rounds[index] += 1
        self._look_at(index, attempt, got)

    def _look_at(self, index: int, attempt: int, got: Any) -> None:
        """One value of each member, all from one attempt, and the same for all.

        Who gets two sums one after the other gets what all have got: of a sum that a
        member did not get all hear, before or instead of the next one.
        """
        parts = np.asarray(got).reshape(-1, _TASKS)
        found = tuple(int(number) for number in parts[0])
        if (parts != parts[0]).any():
            self._break(f"worker{index} got a sum of pieces of different rounds")
        elif found[index] != attempt:
            self._break(
                f"worker{index} gave {attempt} and found {found[index]} of its own"
            )
        for member, number in enumerate(found):
            before = self._sums.setdefault((member, number), found)
            if before != found:
                self._break(
                    f"what worker{member} gave as {number} is in two sums, {before} "
                    f"and {found}"
                )
        self._got[index, attempt] = found
        last = self._got.get((index, attempt - 1))
        if last is None or attempt == self._first[index]:
            return  # it knows that it failed, or was restarted
        for member, number in enumerate(found):
            if self._got.get((member, number - 1)) != last:
                self._break(
                    f"worker{index} got {last} and {found}, and has not heard that "
                    f"worker{member} did not get the first"
                )

    def _break(self, text: str) -> None:
        self.broken.append(f"{self._simulation.now:.3f} s: {text}")


def run_seed(seed: int, faults: Sequence[Fault] | None = None) -> Outcome:
    """One run; the same seed is the same run.

    Args:
      seed: of the run, and of the faults if there are none given.
      faults: what fails.
    """
    if faults is None:
        faults = draw(seed, HOSTS)
    return Reducing(seed).run(faults)
