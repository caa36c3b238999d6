"""`tf.raw_ops`: arguments are called as TensorFlow 1.15 calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf

RENAMED = [
    (lambda r: r.Sum(input=[[1, 2]], axis=1), [3]),
    (lambda r: r.Any(input=[[True, False]], axis=[0, 1], keep_dims=True), [[True]]),
    (lambda r: r.Split(axis=0, value=[1, 2], num_split=2)[1], [2]),
    (
        lambda r: r.SplitV(value=[1, 2, 3], size_splits=[1, 2], axis=0, num_split=2)[1],
        [2, 3],
    ),
    (lambda r: r.ExpandDims(input=[1], axis=0), [[1]]),
    (lambda r: r.Squeeze(input=[[1]], axis=[0]), [1]),
    (lambda r: r.Select(condition=[True, False], x=[1, 2], y=[3, 4]), [1, 4]),
    (lambda r: r.Where(condition=[False, True]), [[1]]),
]

# What TensorFlow 1.15 refuses too.
REFUSED = {
    "the definition's name": lambda r: r.Sum(input=[1, 2], reduction_indices=0),
    "both names": lambda r: r.ExpandDims(input=[1], axis=0, dim=0),
    "no such argument": lambda r: r.Neg(x=[1.0], y=[1.0]),
    "an attr that the inputs tell": lambda r: r.Neg(x=[1.0], T=tf.float32),
    "an input is missing": lambda r: r.ExpandDims(input=[1]),
    "an attr is missing": lambda r: r.Cast(x=[1.0]),
    "by position": lambda r: r.Abs([1]),
}


@pytest.mark.parametrize(("make", "expected"), RENAMED)
def test_names_of_arguments(make: Callable[[Any], Any], expected: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(make(tf.raw_ops)).tolist() == expected


@pytest.mark.parametrize("name", REFUSED)
def test_refused_arguments(name: str) -> None:
    with tf.Graph().as_default() as graph:
        with pytest.raises(TypeError):
            REFUSED[name](tf.raw_ops)
        assert not graph.get_operations()
        # No name was used up.
        assert tf.raw_ops.Cast(x=tf.zeros([]), DstT=tf.int32).op.name == "Cast"


def test_unknown_ops_are_no_attributes() -> None:
    assert not hasattr(tf.raw_ops, "NoSuchOp")
    assert "MatMul" in dir(tf.raw_ops)
