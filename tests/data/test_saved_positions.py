"""Iterators that go on in another graph, and orders that the program left open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import tensorloom as tf
from tensorloom.data import experimental
from tensorloom.kernels.host.data.iterator_resource import IteratorState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Dataset = tf.data.Dataset
_RANDOM: dict[str, Callable[[], Any]] = {
    "shuffle": lambda: Dataset.range(40).shuffle(10),
    "in one order": lambda: Dataset.range(40).shuffle(
        10, reshuffle_each_iteration=False
    ),
    "rounds": lambda: Dataset.range(20).shuffle(10).repeat(2),
    "numbers": lambda: experimental.RandomDataset().take(40),
    "from both": lambda: experimental.sample_from_datasets(
        [Dataset.range(40), Dataset.range(40, 80)]
    ).take(40),
}


@pytest.mark.parametrize("kind", _RANDOM)
def test_unseeded_pipelines_go_on_with_the_numbers_that_they_drew(
    kind: str, tmp_path: Path
) -> None:
    runs = []
    for has_saved in (False, True):
        with tf.Graph().as_default(), tf.Session() as session:
            iterator = _RANDOM[kind]().prefetch(3).make_initializable_iterator()
            element = iterator.get_next()
            position = experimental.make_saveable_from_iterator(iterator)
            saver = tf.train.Saver({"position": position})
            session.run(iterator.initializer)
            if has_saved:
                saver.restore(session, str(tmp_path / "c"))
            else:
                for _ in range(10):
                    session.run(element)
                saver.save(session, str(tmp_path / "c"))
            runs.append([int(session.run(element)) for _ in range(30)])
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("make", "is_same"),
    [
        (lambda: Dataset.range(40).shuffle(40, reshuffle_each_iteration=False), True),
        (lambda: experimental.RandomDataset().take(40), True),
        (lambda: Dataset.range(40).shuffle(40), False),
    ],
)
def test_rounds_have_one_order_where_the_program_asks_for_it(
    make: Callable[[], Any], is_same: bool
) -> None:
    element = make().repeat(2).batch(40).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        first, second = session.run(element).tolist(), session.run(element).tolist()
    assert (first == second) is is_same


def test_states_of_earlier_versions_are_read() -> None:
    state = IteratorState(300, [(2**64 - 1, 7), (0, 5)])
    read = IteratorState.decoded(state.encoded())
    assert (read.position, read.seeds) == (state.position, state.seeds)
    earlier = IteratorState.decoded(b"\xac\x02")
    assert (earlier.position, earlier.seeds) == (300, ())
