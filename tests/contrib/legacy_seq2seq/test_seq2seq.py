"""`tf.contrib.legacy_seq2seq`: a model trains, a placeholder chooses inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib import legacy_seq2seq, rnn


def _symbols(steps: int) -> list[Any]:
    values = np.random.RandomState(0).randint(0, 4, (steps, 8))
    return [tf.constant(step) for step in values]


@pytest.mark.slow
def test_a_model_of_buckets_trains() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        steps = _symbols(3)
        weights = [tf.ones([8]) for _ in steps]

        def model(sources: Any, inputs: Any) -> Any:
            return legacy_seq2seq.embedding_attention_seq2seq(
                sources, inputs, rnn.GRUCell(16), 4, 4, 8
            )

        outputs, losses = legacy_seq2seq.model_with_buckets(
            steps, steps, steps[::-1], weights, [(2, 2), (3, 3)], model
        )
        assert [len(made) for made in outputs] == [2, 3]
        step = tf.train.AdamOptimizer(0.02).minimize(losses[1])
        session.run(tf.global_variables_initializer())
        before = session.run(losses[1])
        for _ in range(60):
            session.run(step)
        assert session.run(losses[1]) < 0.3 * before


def test_a_tensor_says_whether_outputs_are_fed() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        steps, feed = _symbols(3), tf.placeholder(tf.bool, [])
        outputs, state = legacy_seq2seq.embedding_rnn_seq2seq(
            steps, steps, rnn.LSTMCell(3), 4, 4, 2, feed_previous=feed
        )
        assert isinstance(state, rnn.LSTMStateTuple)
        assert len(outputs) == 3
        session.run(tf.global_variables_initializer())
        fed, given = (session.run(outputs, {feed: value}) for value in (True, False))
        np.testing.assert_allclose(fed[0], given[0], 1e-6)
        assert not np.allclose(fed[1], given[1])


def test_losses() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        logits = [tf.zeros([2, 4]), tf.zeros([2, 4])]
        targets = [tf.constant([0, 1])] * 2
        weights = [tf.constant([1.0, 0.0]), tf.constant([0.5, 0.0])]
        each = legacy_seq2seq.sequence_loss_by_example(logits, targets, weights)
        np.testing.assert_allclose(session.run(each), [np.log(4), 0], 1e-6)
        total = legacy_seq2seq.sequence_loss(
            logits, targets, weights, average_across_timesteps=False
        )
        np.testing.assert_allclose(session.run(total), 0.75 * np.log(4), 1e-6)


ERRORS: list[tuple[str, Callable[[], Any]]] = [
    (
        "must be the same 2, 1, 2",
        lambda: legacy_seq2seq.sequence_loss([1, 2], [1, 2], [1]),
    ),
    (
        "Length of targets",
        lambda: legacy_seq2seq.model_with_buckets([1], [1], [], [1], [(1, 1)], None),
    ),
    (
        "at least 1 input",
        lambda: legacy_seq2seq.attention_decoder([], 0, 0, rnn.GRUCell(2)),
    ),
    (
        "keys of",
        lambda: legacy_seq2seq.one2many_rnn_seq2seq(
            [], {"a": []}, rnn.GRUCell(2), {}, 1, {}, 1
        ),
    ),
]


@pytest.mark.parametrize(("message", "run"), ERRORS)
def test_errors(message: str, run: Callable[[], Any]) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        run()
