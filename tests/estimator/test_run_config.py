"""`RunConfig`: settings, and what `TF_CONFIG` says."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tensorloom as tf

_CLUSTER = {
    "chief": ["h0:1"],
    "ps": ["h1:1", "h2:1"],
    "worker": ["h3:1", "h4:1", "h5:1"],
}


def _config(monkeypatch: pytest.MonkeyPatch, tf_config: Any, **settings: Any) -> Any:
    monkeypatch.setenv("TF_CONFIG", json.dumps(tf_config))
    return tf.estimator.RunConfig(**settings)


def test_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    config = _config(monkeypatch, {})
    assert config.is_chief
    assert config.task_type == "worker"
    assert config.task_id == 0
    assert (config.num_ps_replicas, config.num_worker_replicas) == (0, 1)
    assert config.master == ""
    assert config.session_config is None
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (None, 600)


@pytest.mark.parametrize(
    ("task", "index", "master", "is_chief", "number"),
    [
        ("chief", 0, "grpc://h0:1", True, 0),
        ("worker", 2, "grpc://h5:1", False, 3),
        ("ps", 1, "grpc://h2:1", False, 5),
        ("evaluator", 0, "", False, None),
    ],
)
def test_tasks_of_a_cluster(
    monkeypatch: pytest.MonkeyPatch,
    task: str,
    index: int,
    master: str,
    is_chief: bool,
    number: int | None,
) -> None:
    place = {"cluster": _CLUSTER, "task": {"type": task, "index": index}}
    config = _config(monkeypatch, place)
    assert config.master == master
    assert config.is_chief is is_chief
    assert config.global_id_in_cluster == number
    workers = 0 if task == "evaluator" else 4
    assert config.num_worker_replicas == workers
    filters = list(config.session_config.device_filters) if workers else None
    expected = {
        "chief": ["/job:ps", "/job:chief"],
        "worker": ["/job:ps", "/job:worker/task:2"],
        "ps": ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }
    assert filters == expected.get(task)


@pytest.mark.parametrize(
    ("tf_config", "message"),
    [
        ({"cluster": {"worker": ["a:1"]}}, 'must have one "chief" node'),
        ({"cluster": {"chief": ["a:1", "b:1"]}}, 'only one "chief" node'),
        ({"cluster": {"chief": ["a:1"]}}, "task type must be set"),
        (
            {"cluster": {"chief": ["a:1"]}, "task": {"type": "chief"}},
            "task index must be set",
        ),
        (
            {"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": -1}},
            "must be non-negative",
        ),
        (
            {"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 1}},
            "1 is not a valid task_id",
        ),
        (
            {"cluster": {"chief": ["a:1"]}, "task": {"type": "x", "index": 0}},
            "x is not a valid task_type",
        ),
        ({"task": {"type": "ps"}}, "task type must be WORKER"),
        ({"task": {"index": 1}}, "task index must be 0"),
        (
            {"cluster": {"master": ["a:1"], "chief": ["b:1"]}},
            "job `chief` is not supported",
        ),
    ],
)
def test_wrong_clusters(
    monkeypatch: pytest.MonkeyPatch, tf_config: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        _config(monkeypatch, tf_config)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model_dir": ""}, "model_dir should be non-empty"),
        ({"save_summary_steps": -1}, "save_summary_steps should be >= 0"),
        ({"keep_checkpoint_max": -1}, "keep_checkpoint_max should be >= 0"),
        ({"log_step_count_steps": 0}, "log_step_count_steps should be > 0"),
        ({"tf_random_seed": 1.0}, "tf_random_seed must be integer"),
        ({"session_config": {}}, "must be instance of ConfigProto"),
        ({"device_fn": lambda x: ""}, 'exactly one argument "op"'),
        ({"protocol": "carrier"}, "protocol should be grpc"),
        (
            {"save_checkpoints_steps": 1, "save_checkpoints_secs": 1},
            "cannot be both set",
        ),
    ],
)
def test_impossible_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.estimator.RunConfig(**settings)


def test_replace_changes_a_copy() -> None:
    config = tf.estimator.RunConfig(save_checkpoints_secs=60)
    other = config.replace(save_checkpoints_steps=5, model_dir="/m")
    assert (config.save_checkpoints_secs, config.model_dir) == (60, None)
    assert (other.save_checkpoints_steps, other.save_checkpoints_secs) == (5, None)
    with pytest.raises(ValueError, match="Replacing master is not supported"):
        config.replace(master="x")


def test_directories_must_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _config(monkeypatch, {"model_dir": "/a"}).model_dir == "/a"
    with pytest.raises(ValueError, match="must have the same value"):
        _config(monkeypatch, {"model_dir": "/a"}, model_dir="/b")
