"""Decoders that are Keras layers, and their samplers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.seq2seq import samplers
from tensorloom.contrib.seq2seq.beam_decoder import BeamSearchDecoderV2
from tensorloom.contrib.seq2seq.helped_decoder import BasicDecoderV2
from tensorloom.contrib.seq2seq.layer_attention import (
    BahdanauAttentionV2,
    LuongAttentionV2,
    LuongMonotonicAttentionV2,
)
from tensorloom.contrib.seq2seq.weighted_loss import SequenceLoss

seq2seq: Any = tf.contrib.seq2seq
_INPUTS = np.random.RandomState(0).rand(2, 3, 4).astype(np.float32)


def _cell() -> Any:
    return tf.nn.rnn_cell.BasicRNNCell(5, name="cell", reuse=tf.AUTO_REUSE)


def test_a_layer_decodes_as_a_decoder_does() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        state, lengths = tf.zeros([2, 5]), [3, 2]
        helper = seq2seq.TrainingHelper(_INPUTS, lengths)
        decoder = BasicDecoderV2(_cell(), samplers.TrainingSampler())
        got = decoder(
            tf.constant(_INPUTS), initial_state=state, sequence_length=lengths
        )
        want = seq2seq.dynamic_decode(
            seq2seq.BasicDecoder(_cell(), helper, state), scope=decoder.name
        )
        kernel, bias = (v.op.name for v in tf.trainable_variables()[:2])
        for variable in tf.global_variables():
            start = tf.fill(variable.shape, 0.1 if "kernel" in variable.name else 0.0)
            session.run(tf.assign(variable, start))
        for ours, theirs in zip(
            tf.contrib.framework.nest.flatten(got),
            tf.contrib.framework.nest.flatten(want),
            strict=True,
        ):
            np.testing.assert_array_equal(*session.run([ours, theirs]))
        assert kernel.endswith("kernel")
        assert bias.endswith("bias")


def test_a_layer_searches_with_beams() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        decoder = BeamSearchDecoderV2(
            _cell(), 2, output_layer=tf.layers.Dense(4), maximum_iterations=3
        )
        outputs, _, lengths = decoder(
            tf.ones([4, 4]),
            start_tokens=[0, 1],
            end_token=3,
            initial_state=tf.zeros([4, 5]),
        )
        session.run(tf.global_variables_initializer())
        ids, found = session.run([outputs.predicted_ids, lengths])
        assert ids.shape[0] == 2
        assert ids.shape[2] == 2
        assert found.shape == (2, 2)


def test_a_loss_object_is_the_function() -> None:
    logits, targets = tf.constant(_INPUTS), tf.constant([[1, 2, 0], [3, 0, 1]])
    weights = tf.constant([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    want = seq2seq.sequence_loss(
        logits,
        targets,
        weights,
        average_across_timesteps=False,
        average_across_batch=False,
        sum_over_timesteps=True,
        sum_over_batch=True,
    )
    with tf.Session() as session:
        got = SequenceLoss()(targets, logits, weights)
        assert session.run(got) == session.run(want)


def test_a_mechanism_is_a_layer() -> None:
    query = tf.constant(_INPUTS[:, 0])
    mechanism = LuongAttentionV2(4, None, scale=True)
    mask = tf.constant([[True, True, False], [True, False, False]])
    mechanism(tf.constant(_INPUTS), setup_memory=True, mask=mask)
    alignments, state = mechanism([query, mechanism.initial_state(2, tf.float32)])
    assert alignments is state
    names = [v.name.rpartition("/")[2] for v in mechanism.trainable_variables]
    assert sorted(names) == ["attention_g:0", "kernel:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, keys = session.run([alignments, mechanism.keys])
        scores = np.einsum("bd,btd->bt", _INPUTS[:, 0], keys)
    np.testing.assert_allclose(found.sum(1), [1, 1], rtol=1e-6)
    np.testing.assert_array_equal(found == 0, [[0, 0, 1], [0, 1, 1]])
    want = np.exp(scores[0, :2]) / np.exp(scores[0, :2]).sum()
    np.testing.assert_allclose(found[0, :2], want, rtol=1e-5)


def test_a_mechanism_is_made_of_its_configuration() -> None:
    mechanism = BahdanauAttentionV2(3, tf.constant(_INPUTS), normalize=True)
    copy = BahdanauAttentionV2.from_config(mechanism.get_config())
    assert copy.get_config() == mechanism.get_config()
    copy(tf.constant(_INPUTS), setup_memory=True)
    assert copy.values.shape == (2, 3, 4)
    start = LuongMonotonicAttentionV2(3, tf.constant(_INPUTS)).initial_state(
        2, tf.float32
    )
    with tf.Session() as session:
        assert session.run(start).tolist() == [[1, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: LuongAttentionV2(1, None, probability_fn="x"), ValueError, "Invalid"),
        (
            lambda: LuongAttentionV2(1, None)([tf.ones([2, 1]), tf.ones([2, 3])]),
            ValueError,
            "before the setup",
        ),
        (
            lambda: LuongAttentionV2(1, None, memory_layer=1),
            TypeError,
            "memory_layer is not a Layer",
        ),
        (lambda: BasicDecoderV2(_cell(), 1), TypeError, "must be a Sampler"),
        (lambda: BeamSearchDecoderV2(_cell(), 2, 1), ValueError, "a callable"),
        (
            lambda: samplers.TrainingSampler().initialize(_INPUTS),
            ValueError,
            "sequence_length is required",
        ),
        (
            lambda: samplers.ScheduledEmbeddingTrainingSampler(0.5).initialize(0, 1),
            ValueError,
            "embedding is required",
        ),
        (
            lambda: samplers.GreedyEmbeddingSampler().batch_size,
            ValueError,
            "before initialize",
        ),
        (
            lambda: seq2seq.dynamic_decode(tf.keras.layers.Dense(1)),
            TypeError,
            "Expected decoder",
        ),
    ],
)
def test_what_is_wrong_is_said(call: Any, error: type[Exception], message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        call()
