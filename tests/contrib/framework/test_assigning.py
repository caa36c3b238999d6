"""`tf.contrib.framework`: values for variables, filters, questions to a graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

framework = tf.contrib.framework


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("a/w", [2, 2], initializer=tf.zeros_initializer())
        tf.get_variable("b/w", [3], initializer=tf.ones_initializer())
        session.run(tf.global_variables_initializer())
        yield session


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("a/w", initializer=[[1.0, 2.0], [3.0, 4.0]])
        session.run(tf.global_variables_initializer())
        return str(tf.train.Saver().save(session, str(tmp_path / "model")))


def test_values(session: Any) -> None:
    framework.assign_from_values_fn({"b/w": np.array([[1.0], [2.0], [3.0]])})(session)
    assert session.run("b/w:0").tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="Variable c wasn't found"):
        framework.assign_from_values({"c": np.zeros(1)})


def test_a_checkpoint(session: Any, checkpoint: str) -> None:
    variables = tf.global_variables()
    with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[b/w\]"):
        framework.assign_from_checkpoint(checkpoint, variables)
    assign, feeds = framework.assign_from_checkpoint(
        checkpoint, variables, ignore_missing_vars=True
    )
    session.run(assign, feeds)
    assert session.run("a/w:0").tolist() == [[1, 2], [3, 4]]
    session.run(tf.global_variables_initializer())
    restore = framework.assign_from_checkpoint_fn(
        checkpoint, variables, ignore_missing_vars=True
    )
    restore(session)
    assert session.run("a/w:0").tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="Total size of new array"):
        framework.assign_from_checkpoint(checkpoint, {"a/w": variables[1]})
    with pytest.raises(ValueError, match="var_list cannot be empty"):
        framework.assign_from_checkpoint_fn(checkpoint, [])
    assert framework.list_variables(checkpoint) == [("a/w", [2, 2])]
    assert framework.load_variable(checkpoint, "a/w")[1].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("include", "exclude", "search", "expected"),
    [
        (None, None, True, ["a/w:0", "b/w:0"]),
        (["w"], ["^a"], True, ["b/w:0"]),
        (["w"], None, False, []),
        (None, ["b"], False, ["a/w:0"]),
    ],
)
def test_filters(
    session: Any, include: Any, exclude: Any, search: bool, expected: list[str]
) -> None:
    found = framework.filter_variables(
        tf.global_variables(), include, exclude, reg_search=search
    )
    assert [variable.name for variable in found] == expected


def test_questions_to_a_graph() -> None:
    with tf.Graph().as_default() as graph, tf.name_scope("s"):
        x = tf.placeholder(tf.float32, [2], name="x")
        assert framework.get_placeholders(graph) == [x]
        assert framework.get_name_scope() == "s"
        total = framework.reduce_sum_n([x, tf.constant([[1.0, 2.0]])])
        with tf.Session() as session:
            assert session.run(total, {x: [3.0, 4.0]}) == 10
        with pytest.raises(ValueError, match="No tensors provided"):
            framework.reduce_sum_n([])


def test_variables_take_turns() -> None:
    with (
        tf.Graph().as_default(),
        tf.contrib.framework.arg_scope(
            [framework.variable], device=framework.VariableDeviceChooser(2)
        ),
    ):
        devices = [framework.variable(name, [1]).device for name in "abc"]
    assert devices == [f"/job:ps/task:{task}/device:CPU:0" for task in (0, 1, 0)]


def test_a_prefix_that_is_a_directory_too(session: Any, tmp_path: Path) -> None:
    saver = tf.train.Saver({"a/w": tf.global_variables()[0]})
    prefix = saver.save(session, str(tmp_path / "model"))
    (tmp_path / "model").mkdir()
    variables = tf.global_variables()[:1]
    operation, feeds = framework.assign_from_checkpoint(prefix, variables)
    session.run(operation, feeds)
