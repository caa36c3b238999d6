"""A task of a simulated cluster: the real master and worker, wired as in `Server`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from tensorloom.cluster import local
from tensorloom.cluster.control import control_handlers
from tensorloom.cluster.directory import ClusterDirectory, wait_limit_s
from tensorloom.cluster.renamed_tasks import RenamingMaster
from tensorloom.cluster.server_def import make_server_def
from tensorloom.devices.device import make_devices
from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.session_config import SessionConfig
from tensorloom.master.run.master_service import MasterService
from tensorloom.simulate.calls import Listener, SimChannel
from tensorloom.simulate.simulation import SCHEME, Simulation
from tensorloom.train.cluster_spec import ClusterSpec
from tensorloom.worker.collective.task_collectives import TaskCollectives
from tensorloom.worker.run.worker import Worker
from tensorloom.worker.run.worker_service import WorkerService

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PORT: Final = 2222
_SWEEP_S: Final = 30.0


def host_of(job: str, index: int) -> str:
    """The host of a task."""
    return f"{job}{index}"


def cluster_of(jobs: Mapping[str, int]) -> ClusterSpec:
    """A cluster with so many tasks of each job."""
    return ClusterSpec(
        {
            job: [f"{host_of(job, i)}:{PORT}" for i in range(count)]
            for job, count in jobs.items()
        }
    )


class SimTask:
    """A task in the process that makes it, which answers from then on."""

    def __init__(
        self, simulation: Simulation, cluster: ClusterSpec, job: str, index: int
    ) -> None:
        network = simulation.network
        self.address = f"{host_of(job, index)}:{PORT}"
        self.name = f"/job:{job}/replica:0/task:{index}"
        config = SessionConfig()
        devices = make_devices(self.name, {"CPU": 1})
        directory = ClusterDirectory(
            self.name,
            cluster.addresses(),
            lambda address: SimChannel(network, address),
            wait_limit_s(),
        )
        collectives = TaskCollectives(
            self.name,
            directory,
            {device.name: device.incarnation for device in devices},
        )
        self.worker = Worker(self.name, devices, directory, None, collectives)
        directory.set_own_worker(self.worker)
        self.master = RenamingMaster(
            directory,
            local.environment(),
            config,
            own_task=self.name,
            start_here=_start_nothing,
            wait_s=wait_limit_s(),
        )
        self.master.own_address = self.address
        self.masters = MasterService(self.master, self.name)
        workers = WorkerService(
            self.worker,
            learn=lambda cluster_def: directory.learn(ClusterSpec(cluster_def)),
        )
        control = control_handlers(None, directory.update, None, None)
        process = simulation.scheduler.here.process
        handlers = {**self.masters.handlers(), **workers.handlers(), **control}
        self._cluster, self._job, self._index = cluster, job, index
        self._directory = directory
        network.listeners[self.address] = Listener(process, handlers)
        process.state["task"] = self
        concurrency.Thread(target=self._sweep, name="housekeeping").start()

    @property
    def target(self) -> str:
        """What a session takes."""
        return f"{SCHEME}://{self.address}"

    def _sweep(self) -> None:
        while True:
            concurrency.sleep(_SWEEP_S)
            self.worker.steps.sweep()

    # --- as `Server` has them, for libraries that are given one ----------------------

    #: A task that ends is killed: see `Network.kill`.
    is_stopped = False

    @property
    def server_def(self) -> Any:
        """The `ServerDef` of the task."""
        return make_server_def(self._cluster, self._job, self._index, None, None)

    def update_cluster(self, cluster: Any) -> None:
        """See `Server.update_cluster`."""
        self._directory.update(ClusterSpec(cluster))

    def fence(self, check: Callable[[], None] | None) -> None:
        """See `Server.fence`."""
        self.worker.fence = check

    def containers(self) -> set[str]:
        """See `Server.containers`."""
        return {resource.container for resource in self.worker.resources()}

    def clear(self, containers: Sequence[str]) -> None:
        """See `Server.clear`."""
        if containers:
            self.worker.cleanup_all(containers)


def _start_nothing(*_: object) -> NoReturn:
    raise errors.UnimplementedError(
        None, None, "Tasks of a simulation are not called by other names"
    )
