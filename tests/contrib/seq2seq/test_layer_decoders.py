"""Decoders that are Keras layers, and their samplers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.seq2seq import samplers
from tensorloom.contrib.seq2seq.beam_decoder import BeamSearchDecoderV2
from tensorloom.contrib.seq2seq.helped_decoder import BasicDecoderV2
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


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
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
