"""`tf.contrib.crf` against sums over all tag sequences."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

crf = tf.contrib.crf
_TAGS = 3
_RANDOM = np.random.RandomState(0)
_TRANSITIONS = _RANDOM.randn(_TAGS, _TAGS).astype(np.float32)


def _score(inputs: Any, tags: Any) -> float:
    steps = sum(_TRANSITIONS[a, b] for a, b in itertools.pairwise(tags))
    return float(sum(inputs[i, tag] for i, tag in enumerate(tags)) + steps)


def _all_scores(inputs: Any) -> dict[tuple[int, ...], float]:
    sequences = itertools.product(range(_TAGS), repeat=len(inputs))
    return {sequence: _score(inputs, sequence) for sequence in sequences}


def _log_sum(scores: Any) -> float:
    return float(np.log(np.sum(np.exp(list(scores)))))


def _run(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


@pytest.mark.parametrize("lengths", [[4, 2, 1], [1, 1, 1]])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_likelihoods_and_best_sequences(lengths: list[int], kind: type) -> None:
    shape = (3, max(lengths))
    inputs = _RANDOM.randn(*shape, _TAGS).astype(np.float32)
    tags: Any = _RANDOM.randint(0, _TAGS, shape).astype(kind)
    bitmap = _RANDOM.rand(*shape, _TAGS) > 0.3
    bitmap[..., 0] = True
    with tf.Graph().as_default():
        arguments = tf.constant(lengths, kind), tf.constant(_TRANSITIONS)
        scores = tf.constant(inputs)
        score, norm, (likelihood, _), (best, best_score), allowed = _run(
            (
                crf.crf_sequence_score(scores, tf.constant(tags), *arguments),
                crf.crf_log_norm(scores, *arguments),
                crf.crf_log_likelihood(scores, tf.constant(tags), *arguments),
                crf.crf_decode(scores, arguments[1], arguments[0]),
                crf.crf_multitag_sequence_score(
                    scores, tf.constant(bitmap), *arguments
                ),
            )
        )
    for row, length in enumerate(lengths):
        of_all = _all_scores(inputs[row, :length])
        own = of_all[tuple(tags[row, :length])]
        fitting = [
            value
            for sequence, value in of_all.items()
            if all(bitmap[row, i, tag] for i, tag in enumerate(sequence))
        ]
        np.testing.assert_allclose(score[row], own, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(norm[row], _log_sum(of_all.values()), rtol=1e-4)
        np.testing.assert_allclose(likelihood[row], own - norm[row], atol=1e-4)
        np.testing.assert_allclose(allowed[row], _log_sum(fitting), rtol=1e-4)
        winner = max(of_all, key=lambda sequence: of_all[sequence])
        assert tuple(best[row, :length]) == winner
        np.testing.assert_allclose(best_score[row], of_all[winner], rtol=1e-4)
        outside, value = crf.viterbi_decode(inputs[row, :length], _TRANSITIONS)
        assert tuple(outside) == winner
        np.testing.assert_allclose(value, of_all[winner], rtol=1e-4)


def test_transitions_are_a_variable_where_none_are_given() -> None:
    with tf.Graph().as_default(), tf.variable_scope("crf"):
        _, transitions = crf.crf_log_likelihood(
            tf.zeros([2, 4, 5]), tf.zeros([2, 4], tf.int32), tf.constant([4, 3])
        )
        assert transitions.op.name == "crf/transitions"
        assert transitions.shape.as_list() == [5, 5]


@pytest.mark.slow
def test_the_number_of_steps_may_be_known_late() -> None:
    with tf.Graph().as_default():
        inputs = tf.placeholder(tf.float32, [None, None, _TAGS])
        lengths = tf.placeholder(tf.int32, [None])
        best, _ = crf.crf_decode(inputs, tf.constant(_TRANSITIONS), lengths)
        with tf.Session() as session:
            for steps in (1, 3):
                given = _RANDOM.randn(2, steps, _TAGS).astype(np.float32)
                feed = {inputs: given, lengths: [steps, steps]}
                found = session.run(best, feed)
                expected = [crf.viterbi_decode(row, _TRANSITIONS)[0] for row in given]
                np.testing.assert_array_equal(found, expected)


def test_cells_refuse_another_number_of_tags() -> None:
    with tf.Graph().as_default():
        cell = crf.CrfForwardRnnCell(tf.constant(_TRANSITIONS))
        assert (cell.state_size, cell.output_size) == (_TAGS, _TAGS)
        with pytest.raises(ValueError, match="must be equal"):
            cell(tf.zeros([2, _TAGS + 1]), tf.zeros([2, _TAGS]))
