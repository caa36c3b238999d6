"""Training that is resumed goes on behind the last element that was saved."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tensorloom as tf


def _estimator(folder: Path, workers: int = 1) -> Any:
    config = SimpleNamespace(
        num_worker_replicas=workers,
        task_type="worker",
        task_id=3,
        save_checkpoints_secs=None,
        save_checkpoints_steps=2,
    )
    return SimpleNamespace(model_dir=str(folder), _config=config)


def _train(folder: Path, steps: int) -> list[int]:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(9))
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        following = iterator.get_next()
        with tf.control_dependencies([following]):
            count = tf.assign_add(step, 1)
        hook = tf.data.experimental.CheckpointInputPipelineHook(_estimator(folder))
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            return [session.run([following, count])[0] for _ in range(steps)]


def test_input_goes_on(tmp_path: Path) -> None:
    assert _train(tmp_path, 4) == [0, 1, 2, 3]
    assert (tmp_path / "checkpoint_input").exists()
    assert not (tmp_path / "checkpoint").exists()
    assert _train(tmp_path, 3) == [4, 5, 6]


@pytest.mark.parametrize("workers", [1, 2])
def test_names(tmp_path: Path, workers: int) -> None:
    estimator = _estimator(tmp_path, workers)
    hook = tf.data.experimental.CheckpointInputPipelineHook(estimator)
    wanted = {1: "checkpoint_input", 2: "checkpoint_input_worker_3"}[workers]
    assert hook._latest_filename == wanted
