"""Synchronous steps with backup workers: who is slow is not waited for.

`tf.train.SyncReplicasOptimizer` takes the first gradients of each step, as many as
there are workers, and drops those of the slowest (figure 8 of the paper on TensorFlow,
OSDI'16). What a worker computes for is drawn; the rest is the code of a real training.
"""

from __future__ import annotations

import itertools
import random
import statistics
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency
from tensorloom.simulate.simulation import Simulation
from tensorloom.simulate.task import SimTask, cluster_of

if TYPE_CHECKING:
    from tensorloom.simulate.network import Costs

# What a gradient takes to compute: most take about as long, some are stragglers.
MEDIAN_S: Final = 1.5
SPREAD: Final = 0.12  # of the logarithm
STRAGGLERS: Final = 0.02
SLOWER: Final = (1.2, 2.5)  # how much, at least and at most
_PREPARED_STEPS: Final = 2


def compute_s(dice: random.Random) -> float:
    """How long a worker computes a gradient."""
    seconds = MEDIAN_S * dice.lognormvariate(0.0, SPREAD)
    if dice.random() < STRAGGLERS:
        seconds *= dice.uniform(*SLOWER)
    return seconds


def run_synchronous_steps(
    workers: int,
    backups: int,
    servers: int = 2,
    steps: int = 20,
    seed: int = 0,
    costs: Costs | None = None,
) -> float:
    """The median time of a step, in seconds of the virtual clock.

    Args:
      workers: whose gradients make a step.
      backups: how many more there are.
      servers: with a variable each.
      steps: that are measured, after the first ones.
      seed, costs: of the simulation.
    """
    simulation = Simulation(seed, costs)
    run = _Run(simulation, workers, backups, servers, steps)
    simulation.run(run.main)
    if simulation.scheduler.failures:
        raise RuntimeError(str(simulation.scheduler.failures[0]))
    ends = run.ends[_PREPARED_STEPS:]
    return statistics.median(b - a for a, b in itertools.pairwise(ends))


class _Run:
    def __init__(
        self,
        simulation: Simulation,
        workers: int,
        backups: int,
        servers: int,
        steps: int,
    ) -> None:
        self._simulation = simulation
        self._workers, self._servers = workers, servers
        self._all = workers + backups
        self._steps = _PREPARED_STEPS + steps + 1
        self._cluster = cluster_of({"ps": servers, "worker": self._all})
        self._is_ready = False
        #: When each step ended.
        self.ends: list[float] = []

    @property
    def _is_over(self) -> bool:
        return len(self.ends) >= self._steps

    def main(self) -> None:
        """Starts all processes, and waits for the last step."""
        for job, count in (("ps", self._servers), ("worker", self._all)):
            for i in range(count):
                self._simulation.start(f"{job}{i}", lambda j=job, i=i: self._live(j, i))  # type: ignore[misc]
        while not self._is_over and not self._simulation.scheduler.failures:
            self._simulation.sleep(1.0)

    def _live(self, job: str, index: int) -> None:
        task = SimTask(self._simulation, self._cluster, job, index)
        if job == "worker":
            self._work(task, index)

    def _work(self, task: SimTask, index: int) -> None:
        import tensorloom as tf

        dice = random.Random(f"worker {index} of {self._simulation.seed}")
        with tf.Graph().as_default():
            optimizer, train = self._graph(index)
            filters = ["/job:ps", f"/job:worker/task:{index}"]
            config = tf.ConfigProto(device_filters=filters)
            with tf.Session(task.target, config=config) as session:
                if index == 0:
                    session.run(tf.global_variables_initializer())
                    session.run(optimizer.chief_init_op)
                    session.run(optimizer.get_init_tokens_op(0))
                    self._is_ready = True
                    self._lead(session, optimizer)
                while not self._is_ready:
                    self._simulation.sleep(0.05)
                session.run(optimizer.local_step_init_op)
                while not self._is_over:
                    self._simulation.compute(compute_s(dice))
                    session.run(train)

    def _lead(self, session: Any, optimizer: Any) -> None:
        """Applies what was gathered and gives new tokens out, as the queue runner."""
        (gather,) = optimizer.get_chief_queue_runner().enqueue_ops

        def lead() -> None:
            with suppress(errors.CancelledError):
                while not self._is_over:
                    session.run(gather)
                    self.ends.append(self._simulation.now)

        concurrency.Thread(target=lead, name="the chief's queue runner").start()

    def _graph(self, index: int) -> tuple[Any, Any]:
        import tensorloom as tf

        variables = []
        for server in range(self._servers):
            with tf.device(f"/job:ps/task:{server}"):
                variables.append(tf.Variable(1.0, name=f"part_{server}"))
        with tf.device("/job:ps/task:0"):
            step = tf.train.get_or_create_global_step()
            optimizer = tf.train.SyncReplicasOptimizer(
                tf.train.GradientDescentOptimizer(0.01),
                replicas_to_aggregate=self._workers,
                total_num_replicas=self._all,
            )
        gradients = []
        for variable in variables:
            with tf.device(f"/job:worker/task:{index}"):
                gradients.append((tf.identity(variable), variable))
        train = optimizer.apply_gradients(gradients, global_step=step)
        return optimizer, train
