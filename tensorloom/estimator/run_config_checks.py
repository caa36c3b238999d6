"""Whether the settings of a `RunConfig` are possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorloom.estimator.function_arguments import argument_names

BOTH_INTERVALS: Final = (
    "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
)


def _is_config(value: Any) -> bool:
    from tensorloom.protos import config_pb2

    return isinstance(value, config_pb2.ConfigProto)


def _takes_op(value: Any) -> bool:
    return callable(value) and set(argument_names(value)) == {"op"}


# Setting -> what its value must fulfil unless it is None, and the complaint.
_RULES: Final[tuple[tuple[str, Callable[[Any], bool], str], ...]] = (
    ("model_dir", bool, "should be non-empty"),
    ("save_summary_steps", lambda n: bool(n >= 0), "should be >= 0"),
    ("save_checkpoints_steps", lambda n: bool(n >= 0), "should be >= 0"),
    ("save_checkpoints_secs", lambda n: bool(n >= 0), "should be >= 0"),
    ("session_config", _is_config, "must be instance of ConfigProto"),
    ("keep_checkpoint_max", lambda n: bool(n >= 0), "should be >= 0"),
    ("keep_checkpoint_every_n_hours", lambda n: bool(n > 0), "should be > 0"),
    ("log_step_count_steps", lambda n: bool(n > 0), "should be > 0"),
    ("tf_random_seed", lambda n: isinstance(n, int), "must be integer."),
    (
        "experimental_max_worker_delay_secs",
        lambda n: isinstance(n, int),
        "must be an integer if set.",
    ),
    ("session_creation_timeout_secs", lambda n: bool(n > 0), "should be > 0"),
    ("device_fn", _takes_op, 'must be callable with exactly one argument "op".'),
    (
        "protocol",
        lambda name: name in ("grpc", "grpc+verbs"),
        "should be grpc or grpc+verbs",
    ),
)


def check(config: Any) -> None:
    """Checks every setting.

    Raises:
      ValueError: one is impossible.
    """
    for name, holds, complaint in _RULES:
        value = getattr(config, f"_{name}")
        if value is not None and not holds(value):
            raise ValueError(f"{name} {complaint}; got {value!r}")


def check_service(service: Any) -> Any:
    """What `TF_CONFIG` has under `service`.

    Raises:
      TypeError: it is no dict.
    """
    if service is not None and not isinstance(service, dict):
        raise TypeError(
            'If "service" is set in TF_CONFIG, it must be a dict. Given '
            f"{type(service)}"
        )
    return service


def strategies_of(
    experimental_distribute: Any, train_distribute: Any, eval_distribute: Any
) -> tuple[Any, Any]:
    """The strategies of training and of evaluation, wherever they are said.

    Raises:
      ValueError: one is said in two places, or a cluster that is elsewhere.
    """
    if not experimental_distribute:
        return train_distribute, eval_distribute
    if getattr(experimental_distribute, "remote_cluster", None):
        raise ValueError(
            "`experimental_distribute.remote_cluster`: a client apart from the cluster "
            "does not train an Estimator here. Start each task with TF_CONFIG."
        )
    chosen = []
    for name, given in (
        ("train_distribute", train_distribute),
        ("eval_distribute", eval_distribute),
    ):
        other = getattr(experimental_distribute, name, None)
        if other and given:
            raise ValueError(
                f"Either `{name}` or`experimental_distribute.{name}` can be set."
            )
        chosen.append(other or given)
    return chosen[0], chosen[1]
