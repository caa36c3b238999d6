"""Tasks on the nodes of a Ray cluster: an actor each, in one placement group."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.cluster.launch.places import End, OnLine, Places, meaning
from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.cluster.launch.job import Job, Task

_STRATEGIES: Final = ("SPREAD", "PACK", "STRICT_SPREAD", "STRICT_PACK")
# How long an actor waits for lines before it says that there are none.
_POLL_S: Final = 1.0
# Of a cluster that is started here; nothing of ours goes through it.
_OWN_STORE_BYTES: Final = 128 << 20
# Variables that tasks get from the process that launches them, by their beginning.
_INHERITED: Final = ("TENSORLOOM_", "PYTHONPATH", "OMP_")


@dataclass
class _Actor:
    """A life of a task."""

    handle: Any
    python: str = ""
    # The answer to the poll that is under way.
    poll: Any = None


class RayPlaces(Places):
    """Actors, each of which runs a task's process.

    A bundle of the placement group is kept for each task. When a node is lost, Ray
    finds another place for its bundles, and the tasks are started again there.

    Args:
      job: its tasks, and what each needs.
      address: of the Ray cluster: `auto`, `host:port` or `ray://host:10001`; None: the
        one that RAY_ADDRESS names, else a new one of this machine.
      strategy: `SPREAD` over nodes or `PACK` on few; with `STRICT_`, or not at all.
      runtime_env: what Ray makes ready on each node, such as
        `{"working_dir": ".", "pip": [...]}`.
      place_s: how long to wait for a place.

    Raises:
      ValueError: there is no such strategy.
      ImportError: Ray is not installed.
    """

    def __init__(
        self,
        job: Job,
        address: str | None = None,
        strategy: str = "SPREAD",
        runtime_env: Mapping[str, Any] | None = None,
        place_s: float = 600.0,
    ) -> None:
        if strategy not in _STRATEGIES:
            raise ValueError(f"No strategy {strategy!r}; {', '.join(_STRATEGIES)}")
        try:
            import ray
        except ImportError as error:
            raise ImportError(
                "Ray is not installed: pip install 'tensorloom[ray]'"
            ) from error
        self._ray = ray
        self._job = job
        self._tasks = job.tasks
        self._address = address
        self._strategy = strategy
        self._runtime_env = dict(runtime_env or {})
        self._place_s = place_s
        self._actors: dict[Task, _Actor] = {}
        self._group: Any = None
        self._on_line: OnLine = lambda task, line: None
        self._is_ours = False
        # Ends that were seen while a place was looked for.
        self._ends: list[End] = []

    def open(self, on_line: OnLine) -> None:
        """See `Places`.

        Raises:
          errors.UnavailableError: the cluster does not answer, or has no such room.
        """
        ray = self._ray
        self._on_line = on_line
        if not ray.is_initialized():
            try:
                ray.init(
                    log_to_driver=False,
                    logging_level="warning",
                    runtime_env=self._runtime_env or None,
                    **self._where(),
                )
            except (ConnectionError, ray.exceptions.RaySystemError) as error:
                raise errors.UnavailableError(
                    None, None, f"No Ray cluster answers at {self._address}: {error}"
                ) from error
            self._is_ours = True
        self._group = ray.util.placement_group(
            [self._bundle(task) for task in self._tasks], strategy=self._strategy
        )
        if not self._group.wait(timeout_seconds=self._place_s):
            raise errors.UnavailableError(
                None,
                None,
                f"After {self._place_s:g} s Ray has no room for {len(self._tasks)} "
                f"tasks ({self._strategy}). Each needs "
                f"{self._bundle(self._tasks[-1])}; there is {ray.cluster_resources()}",
            )

    def _where(self) -> dict[str, Any]:
        """The cluster; a new one has room for all tasks."""
        address = self._address or os.environ.get("RAY_ADDRESS")
        if address:
            return {"address": address}
        wanted = math.ceil(len(self._tasks) * max(self._job.cpus_per_task, 0.01))
        return {
            "address": "local",
            "num_cpus": max(os.cpu_count() or 1, wanted),
            "object_store_memory": _OWN_STORE_BYTES,
            "include_dashboard": False,
        }

    def _bundle(self, task: Task) -> dict[str, float]:
        wanted = {"CPU": self._job.cpus_per_task, "GPU": self._job.gpus_of(task)}
        return {kind: count for kind, count in wanted.items() if count} or {"CPU": 0.01}

    def place(self, task: Task) -> str:
        """See `Places`."""
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        from tensorloom.cluster.launch.ray_task import RayTask

        ray = self._ray
        earlier = self._actors.pop(task, None)
        if earlier is not None:
            self._forget(earlier)
        bundle = self._bundle(task)
        actor = _Actor(
            ray.remote(RayTask)
            .options(
                num_cpus=bundle.get("CPU", 0),
                num_gpus=bundle.get("GPU", 0),
                max_restarts=0,
                scheduling_strategy=PlacementGroupSchedulingStrategy(
                    self._group,
                    placement_group_bundle_index=self._tasks.index(task),
                ),
            )
            .remote()
        )
        answer = actor.handle.place.remote()
        deadline = time.monotonic() + self._place_s
        try:
            # The other tasks go on meanwhile, and have something to say.
            while not self._look(deadline - time.monotonic(), answer):
                if time.monotonic() > deadline:
                    raise TimeoutError(f"it has found none in {self._place_s:g} s")
            address, actor.python = ray.get(answer)
        except (ray.exceptions.RayError, TimeoutError) as error:
            self._forget(actor)
            raise errors.UnavailableError(
                None, None, f"Ray has no place for {task.name}: {_first_line(error)}"
            ) from error
        self._actors[task] = actor
        return str(address)

    def start(
        self, task: Task, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        """See `Places`."""
        actor = self._actors[task]
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name.startswith(_INHERITED)
        }
        try:
            self._ray.get(
                actor.handle.start.remote(
                    [actor.python, *command[1:]],
                    {**inherited, **environment},
                    "" if "working_dir" in self._runtime_env else os.getcwd(),
                ),
                timeout=self._place_s,
            )
        except (self._ray.exceptions.RayError, TimeoutError) as error:
            raise errors.UnavailableError(
                None, None, f"its place was lost: {_first_line(error)}"
            ) from error
        actor.poll = actor.handle.poll.remote(_POLL_S)

    def wait(self, timeout_s: float) -> list[End]:
        """See `Places`."""
        if not self._ends:
            self._look(timeout_s)
        ends, self._ends = self._ends, []
        return ends

    def _look(self, timeout_s: float, answer: Any = None) -> bool:
        """Waits for a word of a task, and takes it; or whether there is an answer."""
        polls = {a.poll: task for task, a in self._actors.items() if a.poll is not None}
        refs = [*polls, *([] if answer is None else [answer])]
        if not refs:
            time.sleep(max(0.0, timeout_s))
            return False
        ready, _ = self._ray.wait(refs, timeout=max(0.0, timeout_s), num_returns=1)
        for poll in ready:
            if poll in polls:
                task = polls[poll]
                end = self._answered(task, self._actors[task], poll)
                if end is not None:
                    self._actors[task].poll = None
                    self._ends.append(end)
        return answer is not None and answer in ready

    def _answered(self, task: Task, actor: _Actor, poll: Any) -> End | None:
        try:
            lines, status = self._ray.get(poll)
        except self._ray.exceptions.RayError as error:
            return End(task, None, f"its node or actor was lost: {_first_line(error)}")
        for line in lines:
            self._on_line(task, line)
        if status is not None:
            return End(task, status, meaning(status))
        actor.poll = actor.handle.poll.remote(_POLL_S)
        return None

    def terminate(self, task: Task) -> None:
        """See `Places`."""
        self._actors[task].handle.signal.remote(signal.SIGTERM)

    def kill(self, task: Task) -> None:
        """See `Places`."""
        self._actors[task].handle.signal.remote(signal.SIGKILL)

    def close(self) -> None:
        """See `Places`."""
        if not self._ray.is_initialized():
            return
        for actor in self._actors.values():
            self._forget(actor)
        self._actors.clear()
        if self._group is not None:
            self._ray.util.remove_placement_group(self._group)
        if self._is_ours:
            self._ray.shutdown()

    def _forget(self, actor: _Actor) -> None:
        self._ray.kill(actor.handle, no_restart=True)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
