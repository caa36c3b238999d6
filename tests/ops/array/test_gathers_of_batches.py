"""`tf.gather_nd` with `batch_dims` that is a tensor, or none; other misfits."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.indexing.batch_gather import batch_gather_nd


@pytest.mark.parametrize("shape", [None, [], [1]])
def test_batch_dims_may_be_a_constant(shape: list[int] | None) -> None:
    batch_dims: Any = 1 if shape is None else tf.ones(shape, tf.int32)
    found = tf.gather_nd([[1, 2], [3, 4]], [[1], [0]], batch_dims=batch_dims)
    with tf.Session() as sess:
        assert sess.run(found).tolist() == [2, 3]


def test_no_batch() -> None:
    found = batch_gather_nd([[1, 2], [3, 4]], [[1], [0]], 0)
    with tf.Session() as sess:
        assert sess.run(found).tolist() == [[3, 4], [1, 2]]


def test_segment_ids_are_the_first_axes_of_joined_strings() -> None:
    with pytest.raises(ValueError, match="equal"):
        tf.strings.unsorted_segment_join([["a"], ["b"]], [0, 1, 1], 2)


@pytest.mark.parametrize(
    ("rows", "values", "message"),
    [([0], [10.0], "x and v shape"), ([0, 1], [[10.0]], "i and x shape")],
)
def test_rows_written_in_place_have_the_shape_of_rows(
    rows: Any, values: Any, message: str
) -> None:
    made = apply_op("InplaceUpdate", x=[[1.0]], i=rows, v=values)
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        sess.run(made)
