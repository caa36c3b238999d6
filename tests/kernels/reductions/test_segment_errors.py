"""Errors of segment ids are TensorFlow 1.15's: what its kernels meet first."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

DATA = np.arange(12, dtype=np.float32).reshape(3, 4)
SORTED = "possibly because 'segment_ids' input is not sorted"

DENSE = [
    ([1, 0, 0], "segment ids are not increasing"),
    ([-1, 0, 0], rf"Segment id -1 out of range \[0, 1\), {SORTED}"),
    ([0, 0, -1], "segment ids must be >= 0"),
    ([0, 0, 2**31 - 1], "segment ids must be >= 0"),
]
SPARSE = [
    ([0, 1], [0, -1], "segment ids must be >= 0"),
    ([0, 1], [1, 0], "segment ids are not increasing"),
    ([0, 1], [-1, 0], rf"Segment id -1 out of range \[0, 1\), {SORTED}"),
]
GRADIENTS = [
    ([0, 9], [0, 1], r"Index 9 out of range \[0, 5\)"),
    ([-1, 0], [0, 1], r"Index -1 out of range \[0, 5\)"),
    ([0, 1], [0, 4], "Invalid number of segments"),
    ([0, 1], [-1, 0], r"Segment id -1 out of range \[0, 3\)"),
]


def _error_of(build: Any) -> str:
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(build())
        return caught.value.message


@pytest.mark.parametrize(("ids", "message"), DENSE)
def test_dense(ids: list[int], message: str) -> None:
    for function in (tf.segment_sum, tf.segment_max):
        found = _error_of(
            lambda function=function: function(DATA, tf.constant(ids, tf.int32))
        )
        assert re.search(message, found)


@pytest.mark.parametrize(("indices", "ids", "message"), SPARSE)
def test_sparse(indices: list[int], ids: list[int], message: str) -> None:
    found = _error_of(lambda: tf.sparse.segment_sum(DATA, indices, ids))
    assert re.search(message, found)


@pytest.mark.parametrize(("indices", "ids", "message"), GRADIENTS)
@pytest.mark.parametrize("kind", ["Mean", "SqrtN"])
def test_gradients(indices: list[int], ids: list[int], message: str, kind: str) -> None:
    op = getattr(tf.raw_ops, f"SparseSegment{kind}Grad")
    found = _error_of(
        lambda: op(grad=DATA, indices=indices, segment_ids=ids, output_dim0=5)
    )
    assert re.search(message, found)
