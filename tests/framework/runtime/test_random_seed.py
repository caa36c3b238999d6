"""Seeds of ops from the graph's seed and from their own, as in TensorFlow."""

from __future__ import annotations

import pytest

import tensorloom as tf

MAX = 2**31 - 1
# (graph seed, op seed) -> seeds of an op made after one other operation.
CASES = [
    (None, None, (None, None)),
    (None, 5, (87654321, 5)),
    (7, None, (7, 1)),
    (7, 5, (7, 5)),
    (0, 0, (0, MAX)),
    (MAX + 3, MAX + 4, (3, 4)),
    (-1, -2, (MAX - 1, MAX - 2)),
]


@pytest.mark.parametrize(("graph_seed", "op_seed", "expected"), CASES)
def test_get_seed(
    graph_seed: int | None, op_seed: int | None, expected: tuple[int | None, int | None]
) -> None:
    tf.set_random_seed(graph_seed)
    tf.no_op()
    assert tf.get_seed(op_seed) == expected
    assert tf.get_default_graph().seed == graph_seed


def test_each_op_has_numbers_of_its_own() -> None:
    tf.set_random_seed(1)
    first, second = tf.random_uniform([4]), tf.random_uniform([4])
    with tf.Session() as session:
        a, b = session.run([first, second])
    assert a.tolist() != b.tolist()


def test_a_session_starts_anew_and_a_sequence_goes_on_over_fetches() -> None:
    values = tf.random_uniform([2], seed=3)
    doubled = values * 2
    runs = []
    for _ in range(2):
        with tf.Session() as session:
            steps = [session.run(values), session.run(doubled) / 2, session.run(values)]
            runs.append([step.tolist() for step in steps])
    assert runs[0] == runs[1]
    assert len({tuple(step) for step in runs[0]}) == 3


def test_without_a_seed_numbers_differ_from_session_to_session() -> None:
    values = tf.random_normal([3])
    runs = []
    for _ in range(2):
        with tf.Session() as session:
            runs.append(session.run(values).tolist())
    assert runs[0] != runs[1]
