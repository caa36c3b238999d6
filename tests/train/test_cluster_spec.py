"""`tf.train.ClusterSpec`: expectations are TensorFlow 1.15's."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf

SPARSE = {"worker": {1: "a:1", 3: "b:2"}, "ps": ["c:1"]}


def test_forms_are_equal() -> None:
    spec = tf.train.ClusterSpec(SPARSE)
    assert (
        spec
        == tf.train.ClusterSpec(spec)
        == tf.train.ClusterSpec(spec.as_cluster_def())
    )
    assert spec.as_dict() == SPARSE
    assert tf.train.ClusterSpec({"a": {0: "x:1", 1: "y:1"}}).as_dict() == {
        "a": ["x:1", "y:1"]
    }
    assert spec != tf.train.ClusterSpec({"worker": ["a:1"]})
    assert not tf.train.ClusterSpec({})
    assert str(spec) == "ClusterSpec({'ps': ['c:1'], 'worker': {1: 'a:1', 3: 'b:2'}})"


def test_questions() -> None:
    spec = tf.train.ClusterSpec(SPARSE)
    assert spec.jobs == ["worker", "ps"]
    assert spec.num_tasks("worker") == 2
    assert spec.task_indices("worker") == [1, 3]
    assert spec.task_address("worker", 3) == "b:2"
    assert spec.job_tasks("worker") == [None, "a:1", None, "b:2"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (3, TypeError, "must be a dictionary mapping"),
        ({"a": 3}, TypeError, "tasks for job 'a' must be a list or a dictionary"),
        ({"a": [3]}, TypeError, "Task address 3 must be bytes or unicode"),
        ({"a": {"x": "b"}}, TypeError, "'x' has type str, but expected one of: int"),
    ],
)
def test_wrong_clusters(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tf.train.ClusterSpec(given)


def test_unknown_tasks() -> None:
    spec = tf.train.ClusterSpec(SPARSE)
    with pytest.raises(ValueError, match="No such job in cluster: 'x'"):
        spec.num_tasks("x")
    with pytest.raises(ValueError, match="No task with index 0 in job 'worker'"):
        spec.task_address("worker", 0)
