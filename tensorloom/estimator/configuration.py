"""The settings that an Estimator works with: the program's, completed."""

from __future__ import annotations

import tempfile
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.estimator.run_config import RunConfig, default_session_config
from tensorloom.storage.files import filesystem
from tensorloom.train.device_setter import STANDARD_PS_OPS, replica_device_setter


def complete_config(config: Any, model_dir: Any) -> RunConfig:
    """Settings with a directory and a `ConfigProto`.

    Args:
      config: a `RunConfig`; the usual one when None.
      model_dir: the directory; the config's when None; a temporary one if it has none.

    Raises:
      ValueError: `config` is something else, or names another directory.
    """
    if config is None:
        config = RunConfig()
        program_log.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(
            f"config must be an instance of `RunConfig`, but provided {config}."
        )
    completed: RunConfig = config
    if completed.session_config is None:
        completed = completed.replace(session_config=default_session_config())
    if model_dir is not None:
        model_dir = filesystem.path_text(model_dir)
        if config.model_dir is not None and config.model_dir != model_dir:
            raise ValueError(
                "`model_dir` are set both in constructor and `RunConfig`, but with "
                f"different values. In constructor: '{model_dir}', in `RunConfig`: "
                f"'{config.model_dir}' "
            )
    if model_dir:
        return completed.replace(model_dir=model_dir)
    if completed.model_dir is None:
        model_dir = tempfile.mkdtemp()
        program_log.warning("Using temporary folder as model directory: %s", model_dir)
        return completed.replace(model_dir=model_dir)
    return completed


def device_function(config: RunConfig) -> Any:
    """What chooses the device of an operation; None where there is one task alone."""
    if config.device_fn:
        return config.device_fn
    if config.num_ps_replicas <= 0:
        return None
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=f"/job:{config.task_type}/task:{config.task_id}",
        merge_devices=True,
        ps_ops=list(STANDARD_PS_OPS),
        cluster=config.cluster_spec,
    )
