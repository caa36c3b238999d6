"""`state_ops.init_variable`."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.compat.internals.initialization import init_variable


@pytest.mark.parametrize(
    ("init", "value"), [([1.0, 2.0], [1, 2]), (tf.ones_initializer(), [1, 1])]
)
def test_first_values(init: Any, value: list[int]) -> None:
    variable = tf.Variable([0.0, 0.0], name="v", use_resource=False)
    operation = init_variable(variable, init)
    assert operation.op.name == "v/init"
    assert operation.op.colocation_groups() == [b"loc:@v"]
    with tf.Session() as session:
        session.run(operation)
        assert session.run(variable).tolist() == value


def test_unknown_shapes() -> None:
    variable = tf.Variable(tf.placeholder(tf.float32), validate_shape=False)
    with pytest.raises(AssertionError, match="shape unknown"):
        init_variable(variable, tf.ones_initializer())
