"""Variables that begin with the values of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("checkpoint") / "m")
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("old/v", initializer=np.arange(10.0).reshape(5, 2))
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, path)
    return path


@pytest.mark.parametrize(
    "target",
    [
        lambda v: v,
        list,
        tuple,
        lambda v: "new/v",
    ],
    ids=["partitioned variable", "list", "tuple", "name"],
)
def test_partitioned(checkpoint: str, target: Callable[[Any], Any]) -> None:
    partitioner = tf.fixed_size_partitioner(2)
    with tf.variable_scope("new", partitioner=partitioner):
        v = tf.get_variable("v", [5, 2], tf.float64, tf.zeros_initializer())
    tf.train.init_from_checkpoint(checkpoint, {"old/v": target(v)})
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(
            sess.run(tf.convert_to_tensor(v)), np.arange(10.0).reshape(5, 2)
        )


def test_no_slices_are_nothing_to_do(checkpoint: str) -> None:
    tf.train.init_from_checkpoint(checkpoint, {"old/v": []})
    assert not tf.get_default_graph().get_operations()


@pytest.mark.parametrize("target", [3, None, [1.0]])
def test_what_is_no_variable(checkpoint: str, target: Any) -> None:
    with pytest.raises(TypeError, match="assigned to a variable"):
        tf.train.init_from_checkpoint(checkpoint, {"old/v": target})
