"""Transformations about how a dataset runs leave its elements as they are."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.data import optimization


@pytest.mark.parametrize(
    "transformation",
    [
        optimization.assert_next(["Map"]),
        optimization.model(),
        optimization.non_serializable(),
        optimization.optimize(["map_fusion"]),
        optimization.optimize(),
    ],
)
def test_elements_stay(transformation: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.Dataset.range(3).apply(transformation).map(lambda x: x + 1)
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        assert [sess.run(element) for _ in range(3)] == [1, 2, 3]
