"""The checkpoints of a model's directory."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework import errors
from tensorloom.framework.graph.graph import GraphKeys
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint
from tensorloom.train.checkpoints.checkpoint_reader import NewCheckpointReader


def global_step_of_directory(directory: str) -> int:
    """The step of the latest checkpoint; 0 where none can be read."""
    path = latest_checkpoint(directory)
    if path is None:
        return 0
    try:
        return int(NewCheckpointReader(path).get_tensor(GraphKeys.GLOBAL_STEP))
    except (errors.OpError, ValueError):
        # Without a step, or damaged: training finds out.
        return 0


def check_checkpoint_available(directory: str) -> None:
    """Raises ValueError if a directory has no checkpoint."""
    if not latest_checkpoint(directory):
        raise ValueError(f"Could not find trained model in model_dir: {directory}.")


def latest_of(directory: str, purpose: str) -> Any:
    """The latest checkpoint of a directory; where there is none, the log says so."""
    path = latest_checkpoint(directory)
    if not path:
        program_log.info(
            "Could not find trained model in model_dir: %s, running initialization to "
            "%s.",
            directory,
            purpose,
        )
    return path
