"""`tf.contrib.learn.RunConfig`: where a model runs and how often it saves."""

from __future__ import annotations

import json
import os
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.estimator.run_config import RunConfig as CoreRunConfig
from tensorloom.framework.export import export
from tensorloom.train.cluster_spec import ClusterSpec

_DEFAULT_SAVE_SECS: Final = 600
# What runs of one model may differ in.
_NOT_IN_UID: Final = (
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
)


class Environment:
    """Where a program runs."""

    CLOUD = "cloud"
    GOOGLE = "google"
    LOCAL = "local"


@export("contrib.learn.TaskType")
class TaskType:
    """Kinds of tasks in a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


def _tf_config() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(os.environ.get("TF_CONFIG") or "{}")
    return found


class ClusterConfig:
    """A task's place in its cluster, by the variable `TF_CONFIG`.

        TF_CONFIG='{"cluster": {"ps": ["a:1"], "worker": ["b:1", "c:1"]},
                    "task": {"type": "worker", "index": 1}}'

    Args:
      master: the target of sessions; by `TF_CONFIG` when None.
      evaluation_master: that of evaluations.

    Raises:
      ValueError: the task is not in the cluster.
    """

    def __init__(
        self, master: str | None = None, evaluation_master: Any = None
    ) -> None:
        config = _tf_config()
        self._task_type = config.get("task", {}).get("type")
        self._task_id = self.get_task_id()
        self._cluster_spec: Any = ClusterSpec(config.get("cluster", {}))
        if master is None:
            master = _master(self._cluster_spec, self._task_type, self._task_id)
        self._master = master
        jobs = self._cluster_spec.as_dict()
        self._num_ps_replicas = len(jobs.get(TaskType.PS, []))
        self._num_worker_replicas = sum(
            len(jobs.get(job, [])) for job in (TaskType.WORKER, TaskType.MASTER)
        )
        self._environment = config.get("environment", Environment.LOCAL)
        cloud = self._environment == Environment.CLOUD
        chief = TaskType.MASTER if cloud else TaskType.WORKER
        self._is_chief = self._task_id == 0 and self._task_type in (None, chief)
        self._evaluation_master = evaluation_master or ""

    @property
    def cluster_spec(self) -> Any:
        """The jobs and addresses of the cluster."""
        return self._cluster_spec

    @property
    def environment(self) -> str:
        """Where it runs: an `Environment`."""
        return str(self._environment)

    @property
    def evaluation_master(self) -> str:
        """The target of evaluations."""
        return str(self._evaluation_master)

    @property
    def is_chief(self) -> bool:
        """Whether this task writes checkpoints."""
        return self._is_chief

    @property
    def master(self) -> str:
        """The target of sessions; empty for a local one."""
        return str(self._master)

    @property
    def num_ps_replicas(self) -> int:
        """How many parameter servers there are."""
        return self._num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """How many workers there are, with the master."""
        return self._num_worker_replicas

    @property
    def task_id(self) -> int:
        """The index of this task in its job."""
        return self._task_id

    @property
    def task_type(self) -> str | None:
        """The job of this task."""
        task_type: str | None = self._task_type
        return task_type

    @staticmethod
    def get_task_id() -> int:
        """The index of this task, by `TF_CONFIG`; 0 without one."""
        index = _tf_config().get("task", {}).get("index")
        return int(index) if index else 0


@export("contrib.learn.RunConfig")
class RunConfig(ClusterConfig, CoreRunConfig):
    """Settings of a run.

    Args:
      master: the target of sessions; by `TF_CONFIG` when None.
      num_cores: threads for steps and for single operations; 0: as many as cores.
      log_device_placement: whether placements are logged.
      gpu_memory_fraction: which part of a GPU's memory is taken.
      tf_random_seed: of each graph.
      save_summary_steps: summaries are written every so many steps.
      save_checkpoints_secs: checkpoints are written every so many seconds; 600 unless
        `save_checkpoints_steps` is given.
      save_checkpoints_steps: or every so many steps.
      keep_checkpoint_max: how many checkpoints stay.
      keep_checkpoint_every_n_hours: besides, one of every so many hours.
      log_step_count_steps: the speed is logged every so many steps.
      protocol: of the servers: `grpc` when None.
      evaluation_master: the target of evaluations.
      model_dir: where checkpoints and events go; also by `TF_CONFIG`.
      session_config: a `ConfigProto`; it wins over the arguments about devices.
      session_creation_timeout_secs: how long a worker waits for the chief.

    Raises:
      ValueError: `TF_CONFIG` contradicts itself or `model_dir`.
    """

    # Stands for "not given", and is a number, as programs pass it.
    _USE_DEFAULT = 0

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_secs: int | None = _USE_DEFAULT,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: Any = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        from tensorloom.protos import config_pb2

        ClusterConfig.__init__(self, master=master, evaluation_master=evaluation_master)
        self._train_distribute: Any = None
        self._eval_distribute: Any = None
        self._experimental_max_worker_delay_secs: int | None = None
        self._device_fn: Any = None
        self._tf_config = config_pb2.ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=config_pb2.GPUOptions(
                per_process_gpu_memory_fraction=gpu_memory_fraction
            ),
        )
        self._tf_random_seed = tf_random_seed
        self._save_summary_steps = save_summary_steps
        if save_checkpoints_secs == RunConfig._USE_DEFAULT:
            given = save_checkpoints_steps is not None
            save_checkpoints_secs = None if given else _DEFAULT_SAVE_SECS
        self._save_checkpoints_secs = save_checkpoints_secs
        self._log_step_count_steps = log_step_count_steps
        self._protocol = protocol
        self._session_config = session_config
        self._save_checkpoints_steps = save_checkpoints_steps
        self._keep_checkpoint_max = keep_checkpoint_max
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._model_dir = _model_dir(model_dir)
        self._session_creation_timeout_secs = session_creation_timeout_secs

    @property
    def tf_config(self) -> Any:
        """The `ConfigProto` of servers."""
        return self._tf_config

    def uid(self, whitelist: Any = None) -> str:
        """A text that is equal for settings that are equal.

        Args:
          whitelist: the settings that may differ; those of how often things are saved
            and logged when None.
        """
        left_out = _NOT_IN_UID if whitelist is None else whitelist
        state = {
            key: value
            for key, value in sorted(vars(self).items())
            if not key.startswith("__") and key[1:] not in left_out
        }
        if "_cluster_spec" in state:
            state["_cluster_spec"] = sorted(self._cluster_spec.as_dict().items())
        return ", ".join(f"{key}={value!r}" for key, value in state.items())


def _master(cluster: Any, task_type: str | None, task_id: int) -> str:
    """The address of this task's own server; empty where there is no other task."""
    jobs = cluster.jobs if cluster else []
    if not jobs or (len(jobs) == 1 and len(cluster.job_tasks(jobs[0])) == 1):
        return ""
    if not task_type:
        return ""
    hint = (
        f" in the cluster_spec:\n{cluster}\n\nNote that these values may be coming "
        "from the TF_CONFIG environment variable."
    )
    if task_type not in jobs:
        raise ValueError(f"{task_type} is not a valid task_type{hint}")
    addresses = cluster.job_tasks(task_type)
    if not 0 <= task_id < len(addresses):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type}{hint}"
        )
    return f"grpc://{addresses[task_id]}"


def _model_dir(given: str | None) -> str | None:
    named: str | None = _tf_config().get("model_dir")
    if named is None:
        return given
    if given is not None and given != named:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same "
            f"value as the model_dir in TF_CONFIG. model_dir: {given}\n"
            f'TF_CONFIG["model_dir"]: {named}.\n'
        )
    program_log.info("Using model_dir in TF_CONFIG: %s", named)
    return given or named
