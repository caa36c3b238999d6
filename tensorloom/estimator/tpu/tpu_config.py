"""Settings of programs for TPUs."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Final, NamedTuple

from tensorloom.client.program import program_log
from tensorloom.estimator.run_config import RunConfig as EstimatorRunConfig
from tensorloom.estimator.task_types import TaskType
from tensorloom.framework.export import export

_CORES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
_LOOP: Final = re.compile(r"([1-9]\d*)([smh]?)")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}


@export("estimator.tpu.InputPipelineConfig", "contrib.tpu.InputPipelineConfig")
class InputPipelineConfig:
    """Where TPUs get their input from: values of two fields of `TPUConfig`."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class LoopLength(NamedTuple):
    """How long a TPU's training loop is: a number of steps or of seconds."""

    value: int
    unit: str


def check_positive(value: Any, name: str) -> None:
    """Raises TypeError if a value is no integer, ValueError if it is not positive."""
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


def loop_length(iterations_per_loop: Any) -> LoopLength:
    """What `iterations_per_loop` says: `100` steps, or `"90s"`, `"60m"`, `"1h"`.

    Raises:
      ValueError: it is something else.
    """
    match = _LOOP.fullmatch(str(iterations_per_loop))
    if match is None:
        raise ValueError(
            "Invalid TPUConfig `iterations_per_loop` value. Value must be positive "
            "integer value or time-based value `<N><s|m|h>` where <N> is any positive "
            "integer and `s`, `m`, `h` are unit of time in seconds, minutes, hours "
            "respectively. Examples of valid values: `3600s`, `60m`, `1h`. Found: "
            f"{iterations_per_loop!r}."
        )
    value, unit = int(match[1]), match[2]
    if unit:
        return LoopLength(value * _SECONDS[unit], "seconds")
    return LoopLength(value, "count")


class _TPUConfig(NamedTuple):
    iterations_per_loop: Any
    num_shards: Any
    num_cores_per_replica: Any
    per_host_input_for_training: Any
    tpu_job_name: Any
    initial_infeed_sleep_secs: Any
    input_partition_dims: Any
    eval_training_input_configuration: Any
    experimental_host_call_every_n_steps: Any


@export("estimator.tpu.TPUConfig", "contrib.tpu.TPUConfig")
class TPUConfig(_TPUConfig):
    """How TPUs would run a model. Without them, few of the fields matter.

    Args:
      iterations_per_loop: steps that a TPU runs before it returns, or a time such as
        "60m". Without TPUs: speed is logged so many times less often.
      num_shards: not used.
      num_cores_per_replica: 1, 2, 4, ..., 128: over how many cores a model is spread.
      per_host_input_for_training: one of `InputPipelineConfig`; True stands for
        `PER_HOST_V1`, False for `PER_SHARD_V1`.
      tpu_job_name: the job that has the TPUs; that of `TF_CONFIG` when None.
      initial_infeed_sleep_secs: how long input waits at first.
      input_partition_dims: how inputs are split over the cores of a replica.
      eval_training_input_configuration: `PER_HOST_V1`, or `SLICED`: that needs TPUs.
      experimental_host_call_every_n_steps: how often host calls are made.

    Raises:
      ValueError, TypeError: a field has an impossible value.
    """

    __slots__ = ()

    def __new__(
        cls,
        iterations_per_loop: Any = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: Any = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:
        loop_length(iterations_per_loop)
        if num_shards is not None:
            check_positive(num_shards, "TPUConfig num_shards")
        if input_partition_dims is not None:
            _check_partitions(
                input_partition_dims, per_host_input_for_training, num_cores_per_replica
            )
        if num_cores_per_replica not in (None, *_CORES):
            raise ValueError(
                "num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got "
                f"{num_cores_per_replica}"
            )
        if eval_training_input_configuration not in (
            InputPipelineConfig.PER_HOST_V1,
            InputPipelineConfig.SLICED,
        ):
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{eval_training_input_configuration}"
            )
        if per_host_input_for_training is False:
            per_host_input_for_training = InputPipelineConfig.PER_SHARD_V1
        elif per_host_input_for_training is True:
            per_host_input_for_training = InputPipelineConfig.PER_HOST_V1
        if initial_infeed_sleep_secs:
            check_positive(
                initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs"
            )
        return super().__new__(
            cls,
            iterations_per_loop=iterations_per_loop,
            num_shards=num_shards,
            num_cores_per_replica=num_cores_per_replica,
            per_host_input_for_training=per_host_input_for_training,
            tpu_job_name=tpu_job_name or _job_in_tf_config(),
            initial_infeed_sleep_secs=initial_infeed_sleep_secs,
            input_partition_dims=input_partition_dims,
            eval_training_input_configuration=eval_training_input_configuration,
            experimental_host_call_every_n_steps=experimental_host_call_every_n_steps,
        )


def _check_partitions(dims: Any, input_configuration: Any, cores: Any) -> None:
    if len(dims) not in (1, 2):
        raise ValueError(
            "input_partition_dims must be a list/tuple with one or two elements."
        )
    # True, which equals no member, is not PER_HOST_V2.
    if input_configuration != InputPipelineConfig.PER_HOST_V2:
        raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
    if cores is None:
        raise ValueError("input_partition_dims requires setting num_cores_per_replica.")


def _job_in_tf_config() -> str | None:
    tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    name: str | None = tf_config.get("service", {}).get("tpu_worker_job_name")
    if name:
        program_log.info("Load TPU job name from TF_CONFIG: %s", name)
    return name


@export("estimator.tpu.RunConfig", "contrib.tpu.RunConfig")
class RunConfig(EstimatorRunConfig):
    """`tf.estimator.RunConfig` with a `TPUConfig`, and targets that may be given."""

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ) -> None:
        """Makes settings.

        Args:
          tpu_config: a `TPUConfig`; the usual one when None.
          evaluation_master: the target of evaluations; `master` when None.
          master: the target of sessions; that of `TF_CONFIG` when None.
          cluster: a cluster resolver, which says the target and the cluster.
          **kwargs: the arguments of `tf.estimator.RunConfig`.

        Raises:
          ValueError: `master` and `cluster` are both given, or `session_config` has a
            cluster already; or as `tf.estimator.RunConfig`.
        """
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        if master is not None:
            if cluster is not None:
                raise ValueError("Both master and cluster are set.")
            self._master = master
        elif cluster:
            self._master = cluster.master()
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master and self.task_type != TaskType.EVALUATOR:
            self._evaluation_master = self._master
        if cluster:
            self._use_cluster(cluster.cluster_spec())

    _master: str
    _evaluation_master: str

    @property
    def tpu_config(self) -> TPUConfig:
        """The `TPUConfig`."""
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        """The cluster resolver; None if there is none."""
        return self._cluster

    def replace(self, **kwargs: Any) -> RunConfig:
        """New settings with some changed; `tpu_config` is one of those that may be.

        Raises:
          ValueError: as `tf.estimator.RunConfig.replace`.
        """
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        replaced: Any = super().replace(**kwargs)
        replaced._tpu_config = tpu_config
        return replaced  # type: ignore[no-any-return]

    def _use_cluster(self, cluster_spec: Any) -> None:
        from tensorloom.protos import config_pb2

        self._cluster_spec = cluster_spec
        if self._session_config is None:
            self._session_config = config_pb2.ConfigProto(
                allow_soft_placement=True, isolate_session_state=True
            )
        if self._session_config.HasField("cluster_def"):
            raise ValueError(
                "You cannot provide a ClusterResolver and session_config.cluster_def."
            )
        if cluster_spec:
            self._session_config.cluster_def.CopyFrom(cluster_spec.as_cluster_def())

    def _complete_session_config(self) -> None:
        """Nothing: one graph is on all tasks, and no task's devices are left out."""
