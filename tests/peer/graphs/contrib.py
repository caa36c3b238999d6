"""Recurrent networks and decoders of TensorFlow 1.15's own libraries."""

import numpy as np
from graphs.recurrent import X


def _initialized_by(tf, seed=0.3):
    """A scope whose variables get the same values everywhere."""

    def values(shape, dtype=None, partition_info=None, **unused):
        count = int(np.prod(shape))
        return tf.constant(
            (np.sin(np.arange(count) * 1.3 + seed) * 0.4).reshape(shape), tf.float32
        )

    return values


def real_dynamic_rnn(tf):
    x = tf.placeholder(tf.float32, [2, None, 3], name="x")
    lengths = tf.placeholder(tf.int32, [2], name="lengths")
    with tf.variable_scope("net", initializer=_initialized_by(tf)):
        cells = [
            tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=3),
            tf.nn.rnn_cell.GRUCell(3),
        ]
        cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        outputs, state = tf.nn.dynamic_rnn(
            cell, x, sequence_length=lengths, dtype=tf.float32, swap_memory=True
        )
    loss = tf.reduce_sum(outputs**2) + tf.reduce_sum(state[1])
    variables = tf.trainable_variables()
    grads = tf.gradients(loss, [*variables, x])
    return [outputs, state[0].c, state[1], *grads], [
        {"x:0": X, "lengths:0": [5, 3]},
        {"x:0": X[:, :2], "lengths:0": [0, 2]},
    ]


def real_bidirectional_rnn(tf):
    x = tf.placeholder(tf.float32, [2, None, 3], name="x")
    lengths = tf.placeholder(tf.int32, [2], name="lengths")
    with tf.variable_scope("net", initializer=_initialized_by(tf)):
        outputs, states = tf.nn.bidirectional_dynamic_rnn(
            tf.nn.rnn_cell.BasicLSTMCell(2),
            tf.nn.rnn_cell.BasicRNNCell(3),
            x,
            sequence_length=lengths,
            dtype=tf.float32,
        )
    both = tf.concat(outputs, 2)
    return [both, states[1], *tf.gradients(both, x)], [{"x:0": X, "lengths:0": [5, 1]}]


def real_raw_rnn(tf):
    x = tf.placeholder(tf.float32, [None, 2, 3], name="x")
    steps = tf.shape(x)[0]
    inputs = tf.TensorArray(tf.float32, steps).unstack(x)
    with tf.variable_scope("net", initializer=_initialized_by(tf)):
        cell = tf.nn.rnn_cell.BasicLSTMCell(3)

        def loop(time, output, state, loop_state):
            done = time >= tf.constant([4, 2])
            if output is None:
                state = cell.zero_state(2, tf.float32)
            is_over = tf.reduce_all(time >= steps)
            following = tf.cond(
                is_over,
                lambda: tf.zeros([2, 3]),
                lambda: inputs.read(time),
            )
            return done, following, state, output, None

        array, state, _ = tf.nn.raw_rnn(cell, loop)
    return [array.stack(), state.h], [{"x:0": X.reshape(5, 2, 3)}]


def seq2seq_greedy(tf):
    seq2seq = tf.contrib.seq2seq
    memory = tf.placeholder(tf.float32, [2, None, 4], name="memory")
    lengths = tf.placeholder(tf.int32, [2], name="lengths")
    with tf.variable_scope("net", initializer=_initialized_by(tf)):
        table = tf.get_variable("table", [6, 4])
        attention = seq2seq.BahdanauAttention(4, memory, lengths)
        cell = seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.GRUCell(4), attention, attention_layer_size=3
        )
        helper = seq2seq.GreedyEmbeddingHelper(table, tf.constant([1, 2]), 0)
        decoder = seq2seq.BasicDecoder(
            cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(6)
        )
        outputs, _, sizes = seq2seq.dynamic_decode(decoder, maximum_iterations=6)
    return [outputs.rnn_output, outputs.sample_id, sizes], [
        {"memory:0": np.cos(np.arange(24)).reshape(2, 3, 4), "lengths:0": [3, 2]}
    ]


def seq2seq_training(tf):
    seq2seq = tf.contrib.seq2seq
    x = tf.placeholder(tf.float32, [2, None, 3], name="x")
    lengths = tf.placeholder(tf.int32, [2], name="lengths")
    with tf.variable_scope("net", initializer=_initialized_by(tf)):
        cell = tf.nn.rnn_cell.BasicLSTMCell(4)
        helper = seq2seq.TrainingHelper(x, lengths)
        decoder = seq2seq.BasicDecoder(
            cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(5)
        )
        outputs, _, _ = seq2seq.dynamic_decode(decoder, impute_finished=True)
        logits = outputs.rnn_output
        weights = tf.sequence_mask(lengths, tf.shape(logits)[1], tf.float32)
        loss = seq2seq.sequence_loss(
            logits, tf.cast(tf.reduce_sum(x, 2) > 0, tf.int32), weights
        )
    grads = tf.gradients(loss, tf.trainable_variables())
    return [loss, *grads], [{"x:0": X, "lengths:0": [5, 5]}]


def seq2seq_beam_search(tf):
    seq2seq = tf.contrib.seq2seq
    start = tf.placeholder(tf.float32, [2, 4], name="start")
    with tf.variable_scope("net", initializer=_initialized_by(tf)):
        table = tf.get_variable("table", [5, 4])
        cell = tf.nn.rnn_cell.GRUCell(4)
        decoder = seq2seq.BeamSearchDecoder(
            cell,
            table,
            tf.constant([1, 2]),
            0,
            seq2seq.tile_batch(start, 3),
            3,
            tf.layers.Dense(5),
            length_penalty_weight=0.5,
        )
        outputs, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    return [outputs.predicted_ids, state.log_probs], [
        {"start:0": [[0.1, 0.2, -0.5, 0.9], [1.0, -1.0, 0.4, 0.0]]}
    ]


def crf(tf):
    scores = tf.placeholder(tf.float32, [2, None, 3], name="scores")
    tags = tf.placeholder(tf.int32, [2, None], name="tags")
    lengths = tf.placeholder(tf.int32, [2], name="lengths")
    transitions = tf.constant(np.sin(np.arange(9)).reshape(3, 3), tf.float32)
    likelihood, _ = tf.contrib.crf.crf_log_likelihood(
        scores, tags, lengths, transitions
    )
    path, best = tf.contrib.crf.crf_decode(scores, transitions, lengths)
    return [likelihood, path, best, *tf.gradients(likelihood, scores)], [
        {
            "scores:0": np.sin(np.arange(24)).reshape(2, 4, 3) * 2,
            "tags:0": [[0, 1, 2, 1], [2, 2, 0, 0]],
            "lengths:0": [4, 2],
        }
    ]


def keras_layers(tf):
    keras = tf.keras
    x = keras.layers.Input([None, 3], name="x")
    initializer = keras.initializers.Constant(0.2)
    h = keras.layers.Masking()(x)
    h = keras.layers.LSTM(
        4,
        return_sequences=True,
        kernel_initializer=initializer,
        recurrent_initializer=initializer,
    )(h)
    h = keras.layers.Bidirectional(
        keras.layers.GRU(
            2, kernel_initializer=initializer, recurrent_initializer=initializer
        )
    )(h)
    y = keras.layers.Dense(2, activation="softmax", kernel_initializer=initializer)(h)
    model = keras.Model(x, y)
    grads = tf.gradients(model.output, model.trainable_weights[:2])
    name = model.input.name
    return [model.output, *grads], [{name: X}, {name: X[:, :2]}]


def layers_and_batch_norm(tf):
    images = tf.placeholder(tf.float32, [None, 6, 6, 1], name="images")
    training = tf.placeholder(tf.bool, [], name="training")
    initializer = _initialized_by(tf)
    h = tf.layers.conv2d(images, 3, 3, kernel_initializer=initializer)
    h = tf.layers.batch_normalization(h, training=training)
    h = tf.layers.dropout(tf.nn.relu(h), 0.5, training=training, seed=7)
    h = tf.layers.flatten(tf.layers.max_pooling2d(h, 2, 2))
    logits = tf.layers.dense(h, 2, kernel_initializer=initializer)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    loss = tf.losses.sparse_softmax_cross_entropy([0, 1], logits)
    with tf.control_dependencies(updates):
        train = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    with tf.control_dependencies([train]):
        after = [tf.reduce_sum(v.read_value() ** 2) for v in tf.global_variables()[:8]]
    pixels = np.sin(np.arange(72)).reshape(2, 6, 6, 1)
    return [loss, *after], [
        {"images:0": pixels, "training:0": True},
        {"images:0": pixels, "training:0": False},
    ]


PROGRAMS = [
    real_dynamic_rnn,
    real_bidirectional_rnn,
    real_raw_rnn,
    seq2seq_greedy,
    seq2seq_training,
    seq2seq_beam_search,
    crf,
    keras_layers,
    layers_and_batch_norm,
]
for _program in PROGRAMS:
    _program.not_in = ("2.21",)
