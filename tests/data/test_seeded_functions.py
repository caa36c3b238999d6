"""Seeded operations in the functions of a dataset: where their sequences begin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tensorloom as tf

# Of `tf.random.uniform((), seed=11)` in TensorFlow, in thousandths.
_SEQUENCE = [89, 265, 632, 283, 67, 907]


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _draw(*_: Any) -> tf.Tensor:
    return tf.random.uniform((), seed=11)


def _thousandths(values: list[Any]) -> list[int]:
    return [int(value * 1000) for value in values]


_DATASETS: dict[str, Callable[[Any], Any]] = {
    "map": lambda dataset: dataset.map(_draw),
    "map in a thread": lambda dataset: dataset.map(_draw, 1).prefetch(2),
    "flat_map": lambda dataset: dataset.flat_map(
        lambda _: tf.data.Dataset.range(2).map(_draw)
    ),
    "repeat": lambda dataset: dataset.take(2).map(_draw).repeat(),
}


@pytest.mark.parametrize("name", _DATASETS)
def test_each_iterator_begins_the_sequence_anew(name: str) -> None:
    dataset = _DATASETS[name](tf.data.Dataset.range(6))
    iterators = [tf.data.make_initializable_iterator(dataset) for _ in range(2)]
    elements = [iterator.get_next() for iterator in iterators]
    with tf.Session() as sess:
        for which in (0, 0, 1, 0):
            sess.run(iterators[which].initializer)
            drawn = [sess.run(elements[which]) for _ in range(6)]
            assert _thousandths(drawn) == _SEQUENCE


def test_functions_have_sequences_of_their_own() -> None:
    dataset = tf.data.Dataset.range(3).map(_draw).map(lambda x: (x, _draw()))
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as sess:
        drawn = [sess.run(element) for _ in range(3)]
    assert [_thousandths(list(pair)) for pair in drawn] == [
        [value, value] for value in _SEQUENCE[:3]
    ]


def test_a_session_goes_on_with_the_sequence_of_its_own_graph() -> None:
    value = _draw()
    dataset = tf.data.Dataset.range(3).map(_draw)
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as sess:
        drawn = [sess.run(value), sess.run(element), sess.run(value)]
    assert _thousandths(drawn) == [_SEQUENCE[0], _SEQUENCE[0], _SEQUENCE[1]]
