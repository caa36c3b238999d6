"""Decoders and helpers: the loop, tokens, beams, the loss, and refusals."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

seq2seq = tf.contrib.seq2seq
_CHAIN = np.array([[0, 5, 1, 0], [0, 0, 5, 1], [0, 0, 0, 5], [5, 0, 0, 0]], np.float32)


class Chain(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
    """Logits of the next token are the inputs; the state counts steps."""

    state_size = 1
    output_size = 4

    def call(self, inputs: Any, state: Any) -> Any:
        return inputs, state + 1


def _decode(helper: Any, **options: Any) -> Any:
    cell = Chain()
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return seq2seq.dynamic_decode(decoder, **options)


def test_greedy_decoding_ends_with_the_end_token() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        helper = seq2seq.GreedyEmbeddingHelper(tf.constant(_CHAIN), [0, 2], 3)
        outputs, state, lengths = session.run(_decode(helper, impute_finished=True))
    assert outputs.sample_id.tolist() == [[1, 2, 3], [3, 0, 0]]
    assert lengths.tolist() == [3, 1]
    assert state.tolist() == [[3], [1]]
    assert (outputs.rnn_output[1, 1:] == 0).all()


def test_decoding_stops_at_the_limit_and_can_be_time_major() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        helper = seq2seq.GreedyEmbeddingHelper(tf.constant(_CHAIN), [0, 0], 3)
        decoded = _decode(helper, maximum_iterations=2, output_time_major=True)
        outputs, _, lengths = session.run(decoded)
    assert outputs.sample_id.tolist() == [[1, 1], [2, 2]]
    assert lengths.tolist() == [2, 2]


def test_training_gives_the_true_inputs() -> None:
    inputs = np.random.RandomState(0).rand(2, 5, 4).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        outputs, _, lengths = session.run(
            _decode(seq2seq.TrainingHelper(inputs, [4, 2]), impute_finished=True)
        )
    assert lengths.tolist() == [4, 2]
    np.testing.assert_array_equal(outputs.rnn_output[0], inputs[0, :4])
    np.testing.assert_array_equal(outputs.rnn_output[1, 2:], np.zeros([2, 4]))
    assert outputs.sample_id[1, :2].tolist() == inputs[1, :2].argmax(1).tolist()


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_scheduled_sampling_chooses_outputs_or_inputs(chance: float) -> None:
    inputs = np.random.RandomState(0).rand(2, 3, 4).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        helper = seq2seq.ScheduledOutputTrainingHelper(
            inputs, [3, 3], chance, next_inputs_fn=lambda outputs: outputs * 2
        )
        embedded = seq2seq.ScheduledEmbeddingTrainingHelper(
            inputs, [3, 3], tf.constant(_CHAIN), chance
        )
        outputs, tokens = session.run([_decode(helper)[0], _decode(embedded)[0]])
    expected = inputs
    if chance:
        expected = np.stack([inputs[:, 0] * factor for factor in (1, 2, 4)], 1)
        np.testing.assert_array_equal(
            tokens.rnn_output[:, 1], _CHAIN[tokens.sample_id[:, 0]]
        )
    else:
        assert (tokens.sample_id == -1).all()
    np.testing.assert_allclose(outputs.rnn_output, expected)
    assert (outputs.sample_id == chance).all()


def test_custom_and_inference_helpers() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        first = tf.constant(_CHAIN[:2])
        custom = seq2seq.CustomHelper(
            lambda: (tf.fill([2], False), first),
            lambda time, outputs, state: tf.cast(tf.argmax(outputs, 1), tf.int32),
            lambda time, outputs, state, sample_ids: (
                tf.fill([2], time >= 1),
                outputs + 1,
                state,
            ),
        )
        with pytest.raises(ValueError, match="before initialize was called"):
            _ = custom.batch_size
        inference = seq2seq.InferenceHelper(
            lambda outputs: outputs + 1,
            [4],
            tf.float32,
            first,
            lambda samples: samples[:, 0] > 2,
        )
        one, two = session.run([_decode(custom), _decode(inference)])
    assert one[2].tolist() == [2, 2]
    np.testing.assert_array_equal(one[0].rnn_output[:, 1], _CHAIN[:2] + 1)
    np.testing.assert_array_equal(two[0].sample_id[:, 2], _CHAIN[:2] + 3)


def _beams(width: int, **options: Any) -> Any:
    cell = Chain()
    decoder = seq2seq.BeamSearchDecoder(
        cell,
        tf.constant(_CHAIN),
        [0, 2],
        3,
        cell.zero_state(2 * width, tf.float32),
        width,
        **options,
    )
    return seq2seq.dynamic_decode(decoder, maximum_iterations=5)


def _best_chains(start: int, width: int) -> list[tuple[float, list[int]]]:
    """The best chains to token 3, by trying all of up to five tokens."""
    logs = _CHAIN - np.log(np.exp(_CHAIN).sum(1, keepdims=True))
    ended: list[tuple[float, list[int]]] = []
    running: list[tuple[float, list[int]]] = [(0.0, [])]
    for _ in range(5):
        longer = [
            (score + logs[chain[-1] if chain else start][token], [*chain, token])
            for score, chain in running
            for token in range(4)
        ]
        ended += [item for item in longer if item[1][-1] == 3]
        running = [item for item in longer if item[1][-1] != 3]
    return sorted([*ended, *running], key=lambda item: -item[0])[:width]


def test_beam_search_finds_the_best_sequences() -> None:
    # Many beams, so that none of the best three is lost on the way.
    width = 12
    with tf.Graph().as_default(), tf.Session() as session:
        outputs, state, _ = session.run(_beams(width))
    for row, start in enumerate((0, 2)):
        for beam, (score, chain) in enumerate(_best_chains(start, 3)):
            found = outputs.predicted_ids[row, :, beam].tolist()
            assert found[: len(chain)] == chain
            assert set(found[len(chain) :]) <= {3}
            assert state.lengths[row, beam] == len(chain)
            np.testing.assert_allclose(state.log_probs[row, beam], score, rtol=1e-5)


def test_a_length_penalty_changes_scores() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        plain, _, _ = session.run(_beams(2))
        outputs, state, _ = session.run(_beams(2, length_penalty_weight=1.0))
    # The best beams have ended before the last step, so all of their length counts.
    last = outputs.beam_search_decoder_output.scores[:, -1, 0]
    penalty = (5 + state.lengths[:, 0].astype(np.float32)) / 6
    np.testing.assert_allclose(last, state.log_probs[:, 0] / penalty, rtol=1e-5)
    assert not np.allclose(last, plain.beam_search_decoder_output.scores[:, -1, 0])


def test_tile_batch_repeats_rows() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        value = tf.constant([[1, 2], [3, 4]])
        tiled = seq2seq.tile_batch((value, {"a": value[:, 0]}), 2)
        assert tiled[0].shape.as_list() == [4, 2]
        rows, structure = session.run(tiled)
        assert rows.tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]]
        assert structure["a"].tolist() == [1, 1, 3, 3]
        for wrong in (tf.constant(1), tf.placeholder(tf.float32)):
            with pytest.raises(ValueError, match="statically known rank"):
                seq2seq.tile_batch(wrong, 2)


def test_arrays_of_a_state_come_in_the_order_of_the_beams() -> None:
    module = importlib.import_module("tensorloom.contrib.seq2seq.beam_layout")
    parents = np.array([[[0, 0]], [[1, 0]], [[0, 1]]], np.int32)
    values = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        ordered = module.gather_tree_from_array(
            tf.constant(values), parents, tf.constant([[3, 3]])
        )
        assert session.run(ordered)[:, :, 0].tolist() == [[2, 0], [4, 6], [8, 10]]


_LOSSES = {
    (True, True, False, False): lambda x, w: x.sum() / w.sum(),
    (False, True, False, False): lambda x, w: x.sum(0) / np.maximum(w.sum(0), 1e-9),
    (True, False, False, False): lambda x, w: x.sum(1) / np.maximum(w.sum(1), 1e-9),
    (False, False, False, False): lambda x, w: x,
    (False, False, True, True): lambda x, w: x.sum() / (w != 0).sum(),
    (False, False, True, False): lambda x, w: x.sum(1) / np.maximum((w != 0).sum(1), 1),
    (False, False, False, True): lambda x, w: x.sum(0) / np.maximum((w != 0).sum(0), 1),
}


@pytest.mark.parametrize("options", _LOSSES)
def test_sequence_loss(options: tuple[bool, ...]) -> None:
    logits = np.random.RandomState(0).rand(2, 3, 5).astype(np.float32)
    targets = np.array([[1, 2, 3], [0, 1, 4]])
    weights = np.array([[1.0, 0.5, 0.0], [0.0, 0.0, 0.0]], np.float32)
    logs = logits - np.log(np.exp(logits).sum(2, keepdims=True))
    losses = -np.take_along_axis(logs, targets[:, :, None], 2)[:, :, 0] * weights
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = [tf.constant(x) for x in (logits, targets, weights)]
        found = session.run(seq2seq.sequence_loss(*tensors, *options))
    np.testing.assert_allclose(found, _LOSSES[options](losses, weights), rtol=1e-5)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: seq2seq.dynamic_decode("d"), TypeError, "to be type Decoder"),
        (
            lambda: _decode(
                seq2seq.TrainingHelper(np.ones([2, 3, 4], np.float32), [1, 1]),
                maximum_iterations=[1, 2],
            ),
            ValueError,
            "must be a scalar",
        ),
        (
            lambda: seq2seq.BasicDecoder(Chain(), "h", None),
            TypeError,
            "helper must be a Helper",
        ),
        (
            lambda: seq2seq.GreedyEmbeddingHelper(_CHAIN, 0, 3),
            ValueError,
            "start_tokens must be a vector",
        ),
        (
            lambda: seq2seq.GreedyEmbeddingHelper(_CHAIN, [0], [3]),
            ValueError,
            "end_token must be a scalar",
        ),
        (
            lambda: seq2seq.TrainingHelper(np.ones([2, 3, 4], np.float32), 3),
            ValueError,
            "Expected sequence_length to be a vector",
        ),
        (
            lambda: _beams(2, coverage_penalty_weight=0.5),
            ValueError,
            "no cell is attentional",
        ),
        (
            lambda: _beams(2, output_layer="l"),
            TypeError,
            "output_layer must be a Layer",
        ),
        (
            lambda: seq2seq.BeamSearchDecoder(
                Chain(), tf.constant(_CHAIN), [0, 2], 3, tf.zeros([2, 1]), 3
            ),
            ValueError,
            "elements|Unexpected behavior",
        ),
        (
            lambda: seq2seq.sequence_loss(*[tf.ones([2, 2])] * 3),
            ValueError,
            "Logits must be a",
        ),
        (
            lambda: seq2seq.sequence_loss(
                tf.ones([2, 2, 2]), *[tf.ones([2, 2])] * 2, sum_over_batch=True
            ),
            ValueError,
            "average_across_batch and sum_over_batch",
        ),
    ],
)
def test_what_is_refused(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        make()
