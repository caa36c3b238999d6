"""Steps that compute nothing, of workers that share their parameters' servers.

What is left is what the system costs: each worker reads its parameters from every
server, and adds something to them there (figure 6 of the paper on TensorFlow, OSDI'16).
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.simulate.network import Costs
from tensorloom.simulate.simulation import Simulation
from tensorloom.simulate.task import SimTask, cluster_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.train.cluster_spec import ClusterSpec

# Values of a server's part of a dense model; each stands for many (`value_scale`).
_DENSE: Final = 256
_ROWS: Final = 64  # of a server's part of an embedding
_WIDTH: Final = 16
_PREPARED_STEPS: Final = 1


@dataclass(frozen=True)
class Parameters:
    """What a worker reads, and adds to, in a step.

    Args:
      name: for people.
      size: bytes of it, over all servers; 0: one number from each.
      looked_up: rows of an embedding, over all servers, in place of all of it.
    """

    name: str
    size: float = 0.0
    looked_up: int = 0


SCALAR: Final = Parameters("scalar")
DENSE: Final = Parameters("100 MB", 100e6)
SPARSE: Final = Parameters("sparse, 32 rows", looked_up=32)


@dataclass(frozen=True)
class NullSteps:
    """What a run has measured.

    Args:
      step_s: the median of all workers' steps, in seconds of the virtual clock.
      steps: that were measured.
    """

    step_s: float
    steps: int


def run_null_steps(
    parameters: Parameters,
    workers: int,
    servers: int = 16,
    steps: int = 3,
    used: int | None = None,
    seed: int = 0,
    costs: Costs | None = None,
) -> NullSteps:
    """Runs a cluster in which each worker makes steps, one after another.

    Args:
      parameters: what a step reads and adds to.
      workers, servers: how many there are.
      steps: of each worker, after the first ones.
      used: how many of the servers each worker has to do with; None: all.
      seed, costs: of the simulation.
    """
    costs = costs or Costs()
    if parameters.size:
        scale = parameters.size / servers / (4 * _DENSE)
        costs = replace(costs, value_scale=scale)
    simulation = Simulation(seed, costs)
    run = _Run(simulation, parameters, workers, servers, used or servers, steps)
    simulation.run(run.main)
    if simulation.scheduler.failures:
        raise RuntimeError(str(simulation.scheduler.failures[0]))
    return NullSteps(statistics.median(run.times), len(run.times))


class _Run:
    def __init__(
        self,
        simulation: Simulation,
        parameters: Parameters,
        workers: int,
        servers: int,
        used: int,
        steps: int,
    ) -> None:
        self._simulation = simulation
        self._parameters = parameters
        self._workers, self._servers, self._steps = workers, servers, steps
        self._used = used
        self._cluster: ClusterSpec = cluster_of({"ps": servers, "worker": workers})
        self._initialized = False
        self._waiting = workers  # for the first measured step
        self._left = workers
        self.times: list[float] = []

    def main(self) -> None:
        """Starts all processes, and waits for the workers."""
        for job, count in (("ps", self._servers), ("worker", self._workers)):
            for i in range(count):
                self._simulation.start(f"{job}{i}", lambda j=job, i=i: self._live(j, i))  # type: ignore[misc]
        while self._left and not self._simulation.scheduler.failures:
            self._simulation.sleep(1.0)

    def _live(self, job: str, index: int) -> None:
        task = SimTask(self._simulation, self._cluster, job, index)
        if job == "worker":
            self._work(task, index)

    def _work(self, task: SimTask, index: int) -> None:
        import tensorloom as tf

        if index == 0:
            with tf.Graph().as_default(), tf.Session(task.target) as session:
                init, _ = _graph(self._parameters, index, range(self._servers))
                session.run(init)
            self._initialized = True
        servers = [(index + i) % self._servers for i in range(self._used)]
        filters = [f"/job:ps/task:{server}" for server in servers]
        config = tf.ConfigProto(device_filters=[*filters, f"/job:worker/task:{index}"])
        with tf.Graph().as_default():
            _, step = _graph(self._parameters, index, servers)
            with tf.Session(task.target, config=config) as session:
                self._wait(lambda: self._initialized)
                for _ in range(_PREPARED_STEPS):
                    session.run(step)
                self._waiting -= 1
                self._wait(lambda: not self._waiting)
                self._measure(session, step)
                # The others' last steps are to meet the same load as their first.
                while self._left:
                    session.run(step)

    def _measure(self, session: Any, step: Any) -> None:
        for _ in range(self._steps):
            began = self._simulation.now
            session.run(step)
            self.times.append(self._simulation.now - began)
        self._left -= 1

    def _wait(self, is_so: Any) -> None:
        while not is_so():
            self._simulation.sleep(0.5)


def _graph(
    parameters: Parameters, worker: int, servers: Sequence[int]
) -> tuple[Any, Any]:
    """What initializes the servers' parameters, and a step of a worker."""
    import tensorloom as tf

    here = f"/job:worker/task:{worker}"
    updates, variables = [], []
    for server in servers:
        shape = [_ROWS, _WIDTH] if parameters.looked_up else []
        if parameters.size:
            shape = [_DENSE]
        with tf.device(f"/job:ps/task:{server}"):
            initial = tf.zeros(shape)
            variable = tf.Variable(initial, name=f"part_{server}")
            variables.append(variable.initializer)
        if parameters.looked_up:
            count = max(1, parameters.looked_up // len(servers))
            with tf.device(here):
                rows = tf.random_uniform([count], 0, _ROWS, tf.int32, seed=worker + 1)
            with tf.device(f"/job:ps/task:{server}"):
                found = tf.gather(variable, rows)
            with tf.device(here):
                delta = tf.negative(found)
            updates.append(tf.scatter_add(variable, rows, delta))
        else:
            with tf.device(here):
                delta = tf.negative(variable)
            updates.append(tf.assign_add(variable, delta))
    with tf.device(here):
        return tf.group(*variables), tf.group(*[update.op for update in updates])
