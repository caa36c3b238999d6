"""A cluster as Slurm's environment describes it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from tensorloom.cluster.resolvers import NAMES, ClusterResolver
from tensorloom.framework.export import export
from tensorloom.train.cluster_spec import ClusterSpec


@export(NAMES + "SlurmClusterResolver")
class SlurmClusterResolver(ClusterResolver):
    """Spreads jobs over the nodes of a Slurm allocation, in order of the ranks."""

    def __init__(
        self,
        jobs: Mapping[str, int],
        port_base: int = 8888,
        gpus_per_node: int = 1,
        gpus_per_task: int = 1,
        tasks_per_node: int | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str | None = "grpc",
    ) -> None:
        """Makes a resolver.

        Args:
          jobs: how many tasks each job has; ranks go to jobs by their sorted names.
          port_base: the port of the first task of a node.
          gpus_per_node, gpus_per_task: GPUs.
          tasks_per_node: SLURM_NTASKS_PER_NODE if None.
          auto_set_gpu: whether `cluster_spec` sets CUDA_VISIBLE_DEVICES.
          rpc_layer: the protocol.

        Raises:
          RuntimeError: the allocation does not have so many tasks or GPUs.
          KeyError: this process was not started by srun or mpirun.
        """
        environment = os.environ
        if "OMPI_COMM_WORLD_RANK" in environment:
            self._rank = int(environment["OMPI_COMM_WORLD_RANK"])
            num_tasks = int(environment["OMPI_COMM_WORLD_SIZE"])
        else:
            self._rank = int(environment["SLURM_PROCID"])
            num_tasks = int(environment["SLURM_NTASKS"])
        if tasks_per_node is None:
            given = environment.get("SLURM_NTASKS_PER_NODE")
            if given is None:
                raise RuntimeError(
                    "Neither `tasks_per_node` or SLURM_NTASKS_PER_NODE is set."
                )
            tasks_per_node = int(given)
        if tasks_per_node * gpus_per_task > gpus_per_node and auto_set_gpu:
            raise RuntimeError("Requested more GPUs per node then available.")
        if sum(jobs.values()) != num_tasks:
            raise RuntimeError("Requested more tasks then assigned tasks.")
        self._jobs = dict(sorted(jobs.items()))
        self._port_base = port_base
        self._tasks_per_node = tasks_per_node
        self._gpus_per_task = gpus_per_task
        self._auto_set_gpu = auto_set_gpu
        self.rpc_layer = rpc_layer

    def _resolve_hostnames(self) -> list[str]:
        """The nodes of this job; under TensorFlow's name, for subclasses."""
        return hosts_of(_slurm_nodes())

    def cluster_spec(self) -> ClusterSpec:
        """The tasks on the nodes of SLURM_STEP_NODELIST or SLURM_JOB_NODELIST."""
        slots = [
            (f"{host}:{self._port_base + slot}", slot)
            for host in self._resolve_hostnames()
            for slot in range(self._tasks_per_node)
        ]
        cluster: dict[str, list[str]] = {}
        start = 0
        for job, count in self._jobs.items():
            cluster[job] = [address for address, _ in slots[start : start + count]]
            if start <= self._rank < start + count:
                self.task_type, self.task_id = job, self._rank - start
            start += count
        if self._auto_set_gpu:
            first = slots[self._rank][1] * self._gpus_per_task
            gpus = range(first, first + self._gpus_per_task)
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
        return ClusterSpec(cluster)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """The job and index of this process, once `cluster_spec` was called."""
        return self.task_type, self.task_id

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The target of a task."""
        return self.master_at(task_type, task_id, rpc_layer)


def _slurm_nodes() -> str:
    for variable in ("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"):
        if os.environ.get(variable):
            return os.environ[variable]
    raise RuntimeError("No list of nodes: SLURM_STEP_NODELIST is not set.")


def hosts_of(nodes: str) -> list[str]:
    """The hosts of Slurm's short form: `n[1-2,07],m` is n1, n2, n07 and m."""
    parts = re.findall(r"(?:[^,\[]|\[[^\]]*\])+", nodes)
    return [host for part in parts for host in _expand(part)]


def _expand(part: str) -> Iterator[str]:
    before, bracket, rest = part.partition("[")
    if not bracket:
        yield part
        return
    ranges, _, after = rest.partition("]")
    for one in ranges.split(","):
        first, dash, last = one.partition("-")
        numbers = range(int(first), int(last) + 1) if dash else [int(first)]
        for number in numbers:
            yield from (
                f"{before}{number:0{len(first)}d}{end}" for end in _expand(after)
            )
