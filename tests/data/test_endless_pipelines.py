"""Pipelines that never give an element end with the step's time limit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tensorloom as tf

Dataset = tf.data.Dataset
_MANY = 2**60


def _reduced(dataset: Dataset) -> Dataset:
    reducer = tf.data.experimental.Reducer(
        lambda key: np.int64(0), lambda state, x: state + x, lambda state: state
    )
    return dataset.apply(
        tf.data.experimental.group_by_reducer(lambda x: x * 0, reducer)
    )


def _windows(dataset: Dataset) -> Dataset:
    return dataset.apply(
        tf.data.experimental.group_by_window(
            lambda x: x * 0, lambda key, window: window.batch(3), window_size=2**40
        )
    )


PIPELINES: dict[str, Callable[[], Dataset]] = {
    "filter": lambda: Dataset.range(_MANY).filter(lambda x: x < 0),
    "filter repeat": lambda: Dataset.range(3).repeat().filter(lambda x: x < 0),
    "flat_map": lambda: Dataset.range(_MANY).flat_map(lambda x: Dataset.range(0)),
    "interleave": lambda: Dataset.range(_MANY).interleave(
        lambda x: Dataset.range(0), cycle_length=2
    ),
    "group_by_reducer": lambda: _reduced(Dataset.range(_MANY)),
    "group_by_window": lambda: _windows(Dataset.range(_MANY)),
    "unbatch": lambda: (
        Dataset.range(_MANY)
        .map(lambda x: tf.zeros([0]))
        .apply(tf.data.experimental.unbatch())
    ),
    "loop in map": lambda: Dataset.range(3).map(
        lambda x: tf.while_loop(lambda i: i < i + 1, lambda i: i * 1, [x])
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_endless_pipeline(name: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        element = tf.data.make_one_shot_iterator(PIPELINES[name]()).get_next()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(element, options=tf.RunOptions(timeout_in_ms=30))
        assert session.run(tf.constant(3)) == 3
