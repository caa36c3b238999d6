"""Decoders and taggers of `tf.contrib`."""

import numpy as np

from benchmarks.workloads.table import Table

table = Table()


@table.step("beam search, 10 beams, 50 steps, batch of 8", target=0.7)
def beam_search(tf):
    seq2seq = tf.contrib.seq2seq
    units, vocabulary, batch, beams, steps = 64, 200, 8, 10, 50
    random = np.random.RandomState(0)
    embedding = tf.constant(random.randn(vocabulary, 32).astype(np.float32))
    cell = tf.nn.rnn_cell.LSTMCell(units)
    start = tf.constant(random.randn(batch, units).astype(np.float32))
    state = tf.nn.rnn_cell.LSTMStateTuple(start, start)
    decoder = seq2seq.BeamSearchDecoder(
        cell,
        embedding,
        start_tokens=tf.fill([batch], 1),
        end_token=0,
        initial_state=seq2seq.tile_batch(state, beams),
        beam_width=beams,
        # The end is no likely word: all steps are made.
        output_layer=tf.layers.Dense(
            vocabulary,
            bias_initializer=tf.constant_initializer([-9.0] + [0.0] * (vocabulary - 1)),
        ),
    )
    outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=steps)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run(outputs.predicted_ids)


def _sentences(tf, sequences=32, words=50, tags=10):
    random = np.random.RandomState(0)
    scores = tf.get_variable(
        "scores", initializer=random.randn(sequences, words, tags).astype(np.float32)
    )
    truth = tf.constant(random.randint(0, tags, [sequences, words]), tf.int32)
    lengths = tf.constant(random.randint(words // 2, words + 1, sequences), tf.int32)
    return scores, truth, lengths


@table.step("CRF log-likelihood and gradient, 32 sequences of 50", target=0.9)
def crf_log_likelihood(tf):
    scores, truth, lengths = _sentences(tf)
    likelihood, _ = tf.contrib.crf.crf_log_likelihood(scores, truth, lengths)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(-tf.reduce_mean(likelihood))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run(train)


@table.step("CRF Viterbi, 32 sequences of 50", target=0.9)
def crf_viterbi(tf):
    scores, _, lengths = _sentences(tf)
    random = np.random.RandomState(1)
    transitions = tf.constant(random.randn(10, 10).astype(np.float32))
    best = tf.contrib.crf.crf_decode(scores, transitions, lengths)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        yield lambda: sess.run(best)
