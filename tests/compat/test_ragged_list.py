"""Which public functions take ragged tensors, or values of them."""

from __future__ import annotations

import pytest

import tensorloom as tf
from tensorloom.compat.op_modules.ragged_functions import ragged_op_list


def test_the_list_marks_arguments_and_knows_both_versions() -> None:
    first, second = ragged_op_list(), ragged_op_list(tf_version=2)
    assert "* `tf.add`(**x**, **y**, name)" in first
    assert "`tf.gather`(**params**, **indices**, " in first
    for name in ("`tf.batch_gather`", "`tf.where`"):
        assert name in first
        assert name not in second
    assert "`tf.math.log`(**x**" in second
    with pytest.raises(ValueError, match="1 or 2"):
        ragged_op_list(3)


def test_values_are_reduced_as_tensors_are() -> None:
    value = tf.ragged.constant_value([[True, False], [True]])
    with tf.Session() as session:
        found = session.run(
            [tf.reduce_any(value, axis=1), tf.reduce_all(value, axis=1)]
        )
    assert [each.tolist() for each in found] == [[True, True], [False, True]]
