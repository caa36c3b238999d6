"""`tf.estimator.RunConfig`: where and how often an Estimator runs and saves."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterable
from typing import Any, Final

from tensorloom.client.program import program_log
from tensorloom.estimator import run_config_checks
from tensorloom.estimator.cluster_settings import (
    ClusterSettings,
    before_coordination,
    is_coordinated,
    read_settings,
)
from tensorloom.estimator.task_types import TaskType
from tensorloom.framework.export import export
from tensorloom.storage.files import filesystem

# What `replace` may change.
REPLACEABLE: Final = [
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
]


class _Default:
    """Stands for a setting that is not given."""

    def __repr__(self) -> str:
        return "<default>"


_USE_DEFAULT: Any = _Default()
_DEFAULT_SAVE_SECS: Final = 600


def _setting(name: str, doc: str) -> Any:
    def get(self: Any) -> Any:
        return getattr(self, f"_{name}")

    return property(get, doc=doc)


@export("estimator.RunConfig")
class RunConfig:
    """Settings of a run; those of the cluster come from the variable `TF_CONFIG`.

        TF_CONFIG='{"cluster": {"chief": ["a:2222"], "worker": ["b:2222"],
                                "ps": ["c:2222"]},
                    "task": {"type": "worker", "index": 0}}'

    Without a cluster the task is the only worker and the chief.
    """

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: Any = _USE_DEFAULT,
        save_checkpoints_secs: Any = _USE_DEFAULT,
        session_config: Any = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: Callable[[Any], str] | None = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        """Makes settings.

        Args:
          model_dir: where checkpoints and events go.
          tf_random_seed: of each graph.
          save_summary_steps: summaries are written every so many steps.
          save_checkpoints_steps: checkpoints are written every so many steps; not
            together with `save_checkpoints_secs`.
          save_checkpoints_secs: or every so many seconds; 600 if neither is given.
            None for both: no checkpoints.
          session_config: a `ConfigProto`.
          keep_checkpoint_max: how many checkpoints stay; all when None or 0.
          keep_checkpoint_every_n_hours: besides, one of every so many hours.
          log_step_count_steps: loss and speed are logged every so many steps.
          train_distribute: a distribution strategy for training.
          device_fn: the device of an operation, in place of the usual rule.
          protocol: of the servers: `grpc` when None.
          eval_distribute: a distribution strategy for evaluation.
          experimental_distribute: settings of distribution strategies.
          experimental_max_worker_delay_secs: how long a worker waits at most before it
            starts.
          session_creation_timeout_secs: how long a worker waits for the chief.

        Raises:
          ValueError: a setting has an impossible value, or `TF_CONFIG` has.
        """
        if save_checkpoints_steps is _USE_DEFAULT and (
            save_checkpoints_secs is _USE_DEFAULT
        ):
            save_checkpoints_steps, save_checkpoints_secs = None, _DEFAULT_SAVE_SECS
        elif save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is _USE_DEFAULT:
            save_checkpoints_steps = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise ValueError(run_config_checks.BOTH_INTERVALS)
        tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        if tf_config:
            program_log.info("TF_CONFIG environment variable: %s", tf_config)
        train_distribute, eval_distribute = run_config_checks.strategies_of(
            experimental_distribute, train_distribute, eval_distribute
        )
        self._set(
            model_dir=_model_dir(tf_config, model_dir),
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            train_distribute=train_distribute,
            device_fn=device_fn,
            protocol=protocol,
            eval_distribute=eval_distribute,
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        self._service = run_config_checks.check_service(tf_config.get("service"))
        if is_coordinated(tf_config, train_distribute):
            self._take(before_coordination(tf_config))
            self._distribute_coordinator_mode = "independent_worker"
            return
        self._take(read_settings(tf_config))
        self._complete_session_config()

    def _take(self, settings: ClusterSettings) -> None:
        for name, value in vars(settings).items():
            setattr(self, f"_{name}", value)

    # Set where `train_and_evaluate` makes all workers of a cluster train in step.
    _distribute_coordinator_mode: str | None = None
    # What `vars` shows in the log: these names are TensorFlow's.
    _session_config: Any
    _cluster_spec: Any
    _task_type: str
    _task_id: int

    cluster_spec = _setting("cluster_spec", "The jobs and addresses of the cluster.")
    device_fn = _setting("device_fn", "The device of an operation; None: the usual.")
    evaluation_master = _setting("evaluation_master", "The target of evaluations.")
    is_chief = _setting("is_chief", "Whether this task writes checkpoints.")
    master = _setting("master", "The target of sessions; empty for a local one.")
    num_ps_replicas = _setting("num_ps_replicas", "How many parameter servers.")
    num_worker_replicas = _setting("num_worker_replicas", "Workers, with the chief.")
    task_id = _setting("task_id", "The index of this task in its job.")
    global_id_in_cluster = _setting(
        "global_id_in_cluster", "A number of this task, unique in the cluster."
    )
    experimental_max_worker_delay_secs = _setting(
        "experimental_max_worker_delay_secs", "The longest wait before a worker starts."
    )
    task_type = _setting("task_type", "The job of this task.")
    tf_random_seed = _setting("tf_random_seed", "The seed of each graph.")
    save_summary_steps = _setting("save_summary_steps", "Steps between summaries.")
    save_checkpoints_secs = _setting(
        "save_checkpoints_secs", "Seconds between checkpoints."
    )
    session_config = _setting("session_config", "The `ConfigProto` of sessions.")
    save_checkpoints_steps = _setting(
        "save_checkpoints_steps", "Steps between checkpoints."
    )
    keep_checkpoint_max = _setting("keep_checkpoint_max", "How many checkpoints stay.")
    session_creation_timeout_secs = _setting(
        "session_creation_timeout_secs", "The longest wait for the chief."
    )
    keep_checkpoint_every_n_hours = _setting(
        "keep_checkpoint_every_n_hours", "Hours between checkpoints that stay."
    )
    log_step_count_steps = _setting(
        "log_step_count_steps", "Steps between lines of the log."
    )
    model_dir = _setting("model_dir", "Where checkpoints and events go.")
    service = _setting("service", "What `TF_CONFIG` has under `service`.")
    train_distribute = _setting("train_distribute", "The strategy of training.")
    eval_distribute = _setting("eval_distribute", "The strategy of evaluation.")
    protocol = _setting("protocol", "The protocol of servers; None: the usual.")

    def _complete_session_config(self) -> None:
        """In a cluster a task speaks to parameter servers only."""
        if not self._session_config and self._cluster_spec:
            self._session_config = _cluster_session_config(
                self._task_type, self._task_id
            )

    def replace(self, **kwargs: Any) -> RunConfig:
        """New settings with some changed.

        Where one of the two checkpoint intervals is set, the other becomes None.

        Raises:
          ValueError: a setting is unknown, fixed by the cluster, or impossible.
        """
        return copy.deepcopy(self)._set(**kwargs)

    def _set(self, **kwargs: Any) -> RunConfig:
        for name, value in kwargs.items():
            if name not in REPLACEABLE:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are "
                    f"{REPLACEABLE}."
                )
            setattr(self, f"_{name}", value)
        self._choose_interval(kwargs)
        run_config_checks.check(self)
        return self

    def _choose_interval(self, given: Iterable[str]) -> None:
        steps, secs = "save_checkpoints_steps", "save_checkpoints_secs"
        values = {name: getattr(self, name) for name in (steps, secs)}
        if steps in given and secs in given:
            if None not in values.values():
                raise ValueError(run_config_checks.BOTH_INTERVALS)
        elif steps in given and values[steps] is not None:
            setattr(self, f"_{secs}", None)
        elif secs in given and values[secs] is not None:
            setattr(self, f"_{steps}", None)


def _model_dir(tf_config: dict[str, Any], model_dir: Any) -> str | None:
    """The directory that the program or `TF_CONFIG` names."""
    given: str | None = None
    if model_dir is not None:
        given = filesystem.path_text(model_dir)
    if given == "":
        raise ValueError("model_dir should be non-empty.")
    named: str | None = tf_config.get("model_dir")
    if named == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if not named:
        return given
    if given and named != given:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same "
            f"value as the model_dir in TF_CONFIG. model_dir: {given}\n"
            f'TF_CONFIG["model_dir"]: {named}.\n'
        )
    program_log.info("Using model_dir in TF_CONFIG: %s", named)
    return named


def default_session_config() -> Any:
    """The `ConfigProto` of an Estimator that is given none."""
    from tensorloom.protos import config_pb2, rewriter_config_pb2

    rewrites = rewriter_config_pb2.RewriterConfig(
        meta_optimizer_iterations=rewriter_config_pb2.RewriterConfig.ONE
    )
    return config_pb2.ConfigProto(
        allow_soft_placement=True,
        graph_options=config_pb2.GraphOptions(rewrite_options=rewrites),
    )


def _cluster_session_config(task_type: str, task_id: int) -> Any:
    """The `ConfigProto` of a task that speaks to parameter servers only; or None."""
    filters = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{task_id}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }.get(task_type)
    if filters is None:
        return None
    config = default_session_config()
    config.device_filters.extend(filters)
    return config
