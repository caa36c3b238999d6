"""Tasks that are found by a lock service: servers join, and a resolver sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.cluster.resolvers import NAMES, ClusterResolver
from tensorloom.coordination import writers
from tensorloom.coordination.coordinator import VARIABLE, Coordinator, open_coordinator
from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.runtime import concurrency
from tensorloom.train.cluster_spec import ClusterSpec

#: The group of the servers of a job.
GROUP: Final = "tasks"
# A service that does not answer is asked again after this.
_AGAIN_S: Final = 1.0


class Membership:
    """A server as a member of its job: it says where it is, and hears of the others.

    A task of the cluster that the server was started with is waited for when it is
    gone; one that joined later is forgotten.

    Args:
      coordinator: the lock service.
      job, index: the task.
      metadata: what others see: `address`, `incarnation`.
      first: the cluster that the server was started with.
      update: tells the server of tasks that came, moved (or left: no address).
    """

    def __init__(
        self,
        coordinator: Coordinator,
        job: str,
        index: int,
        metadata: Mapping[str, Any],
        first: ClusterSpec,
        update: Callable[[ClusterSpec], None],
    ) -> None:
        self._coordinator = coordinator
        self._group = coordinator.group(GROUP)
        self._task = (job, index)
        self._metadata = {**metadata, "job": job, "index": index}
        self._update = update
        self._first = first.addresses()
        self._began = concurrency.monotonic()
        self._known: dict[tuple[str, int], str] = {}
        self._left = concurrency.Event()
        self._thread = concurrency.Thread(
            target=self._stay, name="tensorloom-membership", daemon=True
        )
        self._thread.start()

    def leave(self) -> None:
        """Leaves the group. Others still wait for a task of their first cluster."""
        self._left.set()
        self._thread.join()
        try:
            self._group.leave(_name(*self._task))
        except errors.UnavailableError as error:
            program_log.warning("%s; its membership will end", error.message)

    def _stay(self) -> None:
        has_joined = False
        while not self._left.is_set():
            pause = self._coordinator.poll_s()
            try:
                if not has_joined:
                    self._join()
                    has_joined = True
                self._look(tasks_of(self._group.members()))
            except errors.AlreadyExistsError as error:
                # An earlier process of the task, whose lease ends soon, or another.
                program_log.info("%s; waiting", error.message)
            except errors.UnavailableError as error:
                program_log.warning("%s; asking again", error.message)
                pause = _AGAIN_S
            except errors.FailedPreconditionError:
                return  # the connection was closed: the process ends
            self._left.wait(pause)

    def _join(self) -> None:
        self._group.join(_name(*self._task), self._metadata)

    def _look(self, found: dict[tuple[str, int], str]) -> None:
        found = {t: a for t, a in found.items() if self._is_current(t, a)}
        changed = {t: a for t, a in found.items() if self._known.get(t) != a}
        gone = {
            (job, index): ""
            for job, index in self._known.keys() - found.keys()
            if _full_name(job, index) not in self._first
        }
        if changed or gone:
            self._update(_cluster({**changed, **gone}))
        self._known = {**self._known, **found}
        for task in gone:
            del self._known[task]

    def _is_current(self, task: tuple[str, int], address: str) -> bool:
        """Whether that is where a task is, and not where it was in an earlier life.

        A task that has just been started again may know better than a record that it
        has not seen before: if that is of an earlier life its lease ends soon.
        """
        if task == self._task:
            return False
        first = self._first.get(_full_name(*task))
        if task in self._known or first in (None, address):
            return True
        return (
            concurrency.monotonic() - self._began
            > 1.2 * self._coordinator.store.lease_s
        )


def join(
    job: str,
    index: int,
    metadata: Mapping[str, Any],
    first: ClusterSpec,
    update: Callable[[ClusterSpec], None],
) -> Membership | None:
    """Joins the job that TENSORLOOM_COORDINATION names; None if it names none.

    Raises:
      ValueError, ImportError, errors.UnavailableError: as `open_coordinator`.
    """
    coordinator = writers.job_coordinator()
    if coordinator is None:
        return None
    return Membership(coordinator, job, index, metadata, first, update)


def tasks_of(
    members: Mapping[str, Mapping[str, Any]],
) -> dict[tuple[str, int], str]:
    """The addresses of tasks, by job and index, from what members say."""
    return {
        (str(one["job"]), int(one["index"])): str(one["address"])
        for one in members.values()
    }


def _full_name(job: str, index: int) -> str:
    return f"/job:{job}/replica:0/task:{index}"


def _name(job: str, index: int) -> str:
    return f"{job} {index}"


def _cluster(tasks: Mapping[tuple[str, int], str]) -> ClusterSpec:
    jobs: dict[str, dict[int, str]] = {}
    for (job, index), address in sorted(tasks.items()):
        jobs.setdefault(job, {})[index] = address
    return ClusterSpec(jobs)


@export(NAMES + "MembershipClusterResolver")
class MembershipClusterResolver(ClusterResolver):
    """Reads which tasks have joined a job, each time it is asked.

    Args:
      url: of the lock service; TENSORLOOM_COORDINATION if None.
      task_type, task_id: this task.
      rpc_layer: the protocol.
      wait_for: how many tasks of which jobs `cluster_spec` waits for, such as
        `{"ps": 2}`.
      timeout_s: for how long.

    Raises:
      ValueError: there is no such URL, or the environment has none.
      ImportError: a library is missing; it says which extra has it.
      errors.UnavailableError: the service does not answer.
    """

    def __init__(
        self,
        url: str | None = None,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = "grpc",
        wait_for: Mapping[str, int] | None = None,
        timeout_s: float = 600.0,
    ) -> None:
        coordinator = open_coordinator(url) if url else writers.job_coordinator()
        if coordinator is None:
            raise ValueError(f"Which lock service? Give a URL, or set {VARIABLE}")
        self._group = coordinator.group(GROUP)
        self._wait_for = dict(wait_for or {})
        self._timeout_s = timeout_s
        self.task_type = task_type
        self.task_id = task_id
        self.rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """The tasks that have joined and whose leases last.

        Raises:
          errors.DeadlineExceededError: those to wait for have not come.
          errors.UnavailableError: the service does not answer.
        """
        return _cluster(
            tasks_of(self._group.wait_for(self._are_there, self._timeout_s))
        )

    def _are_there(self, members: Mapping[str, Mapping[str, Any]]) -> bool:
        jobs = [job for job, _ in tasks_of(members)]
        return all(jobs.count(job) >= n for job, n in self._wait_for.items())

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The target of a task that is named here, or of this one."""
        return self.master_at(task_type, task_id, rpc_layer)

    def incarnations(self) -> dict[str, int]:
        """The incarnation of each task that has joined, by its name."""
        return {
            f"/job:{one['job']}/task:{one['index']}": int(one["incarnation"])
            for one in self._group.members().values()
        }
