"""Where the tasks of a cluster are: resolvers in general, and of TF_CONFIG."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.train.cluster_spec import ClusterSpec

#: Where the names are public.
NAMES: Final = "distribute.cluster_resolver."


def format_master_url(master: str, rpc_layer: str | None = None) -> str:
    """The address with its protocol: `grpc://host:port`."""
    return f"{rpc_layer}://{master}" if rpc_layer else master


@export(NAMES + "ClusterResolver")
class ClusterResolver(ABC):
    """Knows the tasks of a cluster, and which of them this process is."""

    task_type: Any = None
    task_id: Any = None
    rpc_layer: Any = None

    @abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """The tasks, as they are now."""

    @abstractmethod
    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The target of a session: at the task that is given, or this one."""

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> dict[str, int]:
        """How many devices but CPUs a task has, by type; asks the task."""
        from tensorloom.client.session.session import Session

        counts: dict[str, int] = {}
        with Session(self.master(task_type, task_id), config=config_proto) as session:
            for device in session.list_devices():
                here = task_type is None or f"/job:{task_type}/" in device.name
                here = here and (task_id is None or f"/task:{task_id}/" in device.name)
                if here and device.device_type != "CPU":
                    kind = device.device_type
                    counts[kind] = counts.get(kind, 0) + 1
        return counts

    @property
    def environment(self) -> str:
        """Where the processes run: "" where nothing is known of it."""
        return ""

    def master_at(self, task_type: Any, task_id: Any, rpc_layer: str | None) -> str:
        """The target of a task; "" when it is not known which."""
        job = task_type if task_type is not None else self.task_type
        index = task_id if task_id is not None else self.task_id
        if job is None or index is None:
            return ""
        address = self.cluster_spec().task_address(job, index)
        return format_master_url(address, rpc_layer or self.rpc_layer)


@export(NAMES + "SimpleClusterResolver")
class SimpleClusterResolver(ClusterResolver):
    """A cluster that is known."""

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: Mapping[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        """Makes a resolver of what is given.

        Raises:
          TypeError: `cluster_spec` is no `ClusterSpec`.
        """
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a ClusterSpec.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec = cluster_spec
        self._master = master
        self._environment = environment
        self._num_accelerators = num_accelerators
        self.task_type = task_type
        self.task_id = task_id
        self.rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """What was given."""
        return self._cluster_spec

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The target of a task that is named here, else the master that was given."""
        if task_type is None or task_id is None:
            address = self._master
        else:
            address = self._cluster_spec.task_address(task_type, task_id)
        return format_master_url(address, rpc_layer or self.rpc_layer)

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> dict[str, int]:
        """What was given, else what the task says."""
        if self._num_accelerators is None:
            return super().num_accelerators(task_type, task_id, config_proto)
        return dict(self._num_accelerators)

    @property
    def environment(self) -> str:
        """What was given."""
        return self._environment


@export(NAMES + "UnionResolver", NAMES + "UnionClusterResolver")
class UnionResolver(ClusterResolver):
    """Several resolvers as one; what only one may say, the first says."""

    def __init__(self, *args: ClusterResolver, **kwargs: Any) -> None:
        """Makes a union.

        Args:
          *args: the resolvers.
          **kwargs: task_type, task_id, rpc_layer: instead of the first one's.

        Raises:
          ValueError: there is no resolver.
          TypeError: one is none.
        """
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for resolver in args:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError(
                    "All arguments must be a sub-class of `ClusterResolver.`"
                )
        self._resolvers = args
        self.task_type = kwargs.pop("task_type", args[0].task_type)
        self.task_id = kwargs.pop("task_id", args[0].task_id)
        self._rpc_layer = kwargs.get("rpc_layer")
        self.rpc_layer = kwargs.pop("rpc_layer", args[0].rpc_layer)
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")

    def cluster_spec(self) -> ClusterSpec:
        """The tasks of all; tasks of one job that are numbered are not moved.

        Raises:
          KeyError: two resolvers give one task two addresses.
        """
        specs = [resolver.cluster_spec() for resolver in self._resolvers]
        dense: dict[str, list[str]] = {}
        sparse: dict[str, dict[int, str]] = {}
        for spec in specs:
            for job, tasks in spec.as_dict().items():
                if isinstance(tasks, dict) or job in sparse:
                    _add_numbered(job, tasks, sparse)
                else:
                    dense.setdefault(job, []).extend(tasks)
        for job in set(dense) & set(sparse):
            _add_numbered(job, dense.pop(job), sparse)
        return ClusterSpec({**dense, **sparse})

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The target of a task that is named here, else the first one's master."""
        if task_type is not None and task_id is not None:
            address = self.cluster_spec().task_address(task_type, task_id)
            return format_master_url(address, rpc_layer or self._rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> dict[str, int]:
        """What the first one says."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

    @property
    def environment(self) -> str:
        """What the first one says."""
        return self._resolvers[0].environment


def _add_numbered(
    job: str, tasks: Sequence[str] | Mapping[int, str], sparse: dict[str, Any]
) -> None:
    numbered = tasks if isinstance(tasks, Mapping) else dict(enumerate(tasks))
    known = sparse.setdefault(job, {})
    for index, address in numbered.items():
        if known.setdefault(index, address) != address:
            raise KeyError(
                f"Task {index} of job {job} is at {known[index]} and at {address}"
            )


@export(NAMES + "TFConfigClusterResolver")
class TFConfigClusterResolver(ClusterResolver):
    """Reads the environment variable TF_CONFIG, each time it is asked."""

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        """Makes a resolver; what is given goes before what TF_CONFIG says."""
        self._task_type = task_type
        self._task_id = task_id
        self._rpc_layer = rpc_layer
        self._environment = environment

    @property
    def environment(self) -> Any:
        """Where the processes run, such as "google", if it was given; else None."""
        return self._environment

    @property
    def task_type(self) -> str | None:
        """The job of this process."""
        if self._task_type is not None:
            return self._task_type
        found = _tf_config().get("task", {}).get("type")
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """Its index in the job."""
        if self._task_id is not None:
            return self._task_id
        found = _tf_config().get("task", {}).get("index")
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str | None:
        """The protocol."""
        return self._rpc_layer or _tf_config().get("rpc_layer")

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> dict[str, int]:
        """How many devices but CPUs a task has, by type; this one by default."""
        return super().num_accelerators(
            self.task_type if task_type is None else task_type,
            self.task_id if task_id is None else task_id,
            config_proto,
        )

    def cluster_spec(self) -> ClusterSpec:
        """The tasks in TF_CONFIG; none without it."""
        cluster = _tf_config().get("cluster", {})
        # JSON has no numbers for keys: {"worker": {"7": "host:port"}}.
        return ClusterSpec(
            {
                job: {int(index): address for index, address in tasks.items()}
                if isinstance(tasks, Mapping)
                else tasks
                for job, tasks in cluster.items()
            }
        )

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The target of a task; "" without a cluster: it runs in this process.

        Where TF_CONFIG has a "session_master", that is the target of all.

        Raises:
          ValueError: there is no such task, or TF_CONFIG does not name this one.
        """
        session_master = _tf_config().get("session_master")
        if session_master is not None:
            return str(session_master)
        spec = self.cluster_spec()
        if not spec.jobs or (
            len(spec.jobs) == 1 and len(spec.task_indices(spec.jobs[0])) == 1
        ):
            return ""
        job = task_type if task_type is not None else self.task_type
        index = task_id if task_id is not None else self.task_id
        address = spec.task_address(job, index)  # type: ignore[arg-type]
        return format_master_url(address, rpc_layer or self.rpc_layer)


def _tf_config() -> dict[str, Any]:
    text = os.environ.get("TF_CONFIG")
    if not text:
        return {}
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"TF_CONFIG is no JSON object: {text!r}")
    return found
