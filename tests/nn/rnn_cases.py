"""Recurrent networks, one function a case, with the weights of a constant initializer.

The same functions gave `recorded/rnn_cases.txt` in TensorFlow 1.15.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any], Any]] = {}
_INPUTS = np.random.RandomState(0).randn(3, 4, 2).astype(np.float32)


def _case(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def with_weights(tf: Any) -> Any:
        tf.set_random_seed(3)
        scope = tf.get_variable_scope()
        scope.set_initializer(tf.random_uniform_initializer(-0.7, 0.7, seed=11))
        results = build(tf)
        # Ready before the first fetch, without a second step.
        return _initialized(tf, results)

    CASES[build.__name__] = with_weights
    return build


def _initialized(tf: Any, results: Any) -> Any:
    session = tf.get_default_session()
    session.run(tf.global_variables_initializer())
    return [results, *_sizes(tf)]


def _sizes(tf: Any) -> list[Any]:
    return [tf.constant(v.shape.as_list()) for v in tf.global_variables()]


def _steps(tf: Any) -> Any:
    return tf.unstack(tf.constant(_INPUTS), axis=1)


@_case
def lstm_static(tf: Any) -> Any:
    cell = tf.nn.rnn_cell.LSTMCell(5)
    return tf.nn.static_rnn(cell, _steps(tf), dtype=tf.float32)


@_case
def lstm_with_everything(tf: Any) -> Any:
    cell = tf.nn.rnn_cell.LSTMCell(
        5, use_peepholes=True, cell_clip=0.3, num_proj=2, proj_clip=0.2
    )
    return tf.nn.static_rnn(cell, _steps(tf), dtype=tf.float32)


@_case
def one_matrix_of_state(tf: Any) -> Any:
    cell = tf.nn.rnn_cell.BasicLSTMCell(5, state_is_tuple=False)
    lengths = [1, 4, 2]
    return tf.nn.static_rnn(cell, _steps(tf), dtype=tf.float32, sequence_length=lengths)


@_case
def gru_dynamic(tf: Any) -> Any:
    cell = tf.nn.rnn_cell.GRUCell(3)
    return tf.nn.dynamic_rnn(
        cell, tf.constant(_INPUTS), dtype=tf.float32, sequence_length=[1, 4, 2]
    )


@_case
def gradients_through_the_loop(tf: Any) -> Any:
    cell = tf.nn.rnn_cell.BasicRNNCell(3)
    x = tf.constant(_INPUTS)
    outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    loss = tf.reduce_sum(outputs * outputs)
    return [outputs, state, tf.gradients(loss, [x, *tf.trainable_variables()])]


@_case
def unknown_sizes(tf: Any) -> Any:
    x = tf.placeholder_with_default(_INPUTS, [None, None, 2])
    lengths = tf.constant([2, 0, 4])
    cell = tf.nn.rnn_cell.LSTMCell(3)
    return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, sequence_length=lengths)


@_case
def time_first(tf: Any) -> Any:
    x = tf.constant(_INPUTS.transpose(1, 0, 2))
    cell = tf.nn.rnn_cell.GRUCell(3)
    return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=True)


@_case
def both_directions(tf: Any) -> Any:
    cells = tf.nn.rnn_cell
    return tf.nn.bidirectional_dynamic_rnn(
        cells.LSTMCell(2),
        cells.GRUCell(2),
        tf.constant(_INPUTS),
        dtype=tf.float32,
        sequence_length=[4, 3, 1],
    )


@_case
def both_directions_static(tf: Any) -> Any:
    cells = tf.nn.rnn_cell
    return tf.nn.static_bidirectional_rnn(
        cells.LSTMCell(2),
        cells.GRUCell(2),
        _steps(tf),
        dtype=tf.float32,
        sequence_length=[4, 3, 1],
    )


@_case
def stacked(tf: Any) -> Any:
    cells = tf.nn.rnn_cell
    stack = cells.MultiRNNCell(
        [
            cells.LSTMCell(4),
            cells.ResidualWrapper(cells.GRUCell(4)),
            cells.DeviceWrapper(cells.BasicLSTMCell(3), "/cpu:0"),
        ]
    )
    return tf.nn.static_rnn(stack, _steps(tf), dtype=tf.float32)


@_case
def with_dropout(tf: Any) -> Any:
    cell = tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.LSTMCell(4), output_keep_prob=0.5, state_keep_prob=0.7, seed=1
    )
    return tf.nn.static_rnn(cell, _steps(tf), dtype=tf.float32)


@_case
def one_dropout_mask(tf: Any) -> Any:
    cell = tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.LSTMCell(4),
        0.5,
        0.6,
        0.7,
        variational_recurrent=True,
        input_size=2,
        dtype=tf.float32,
        seed=4,
    )
    return tf.nn.static_rnn(cell, _steps(tf), dtype=tf.float32)


@_case
def raw(tf: Any) -> Any:
    cell = tf.nn.rnn_cell.LSTMCell(3)
    steps = tf.constant(_INPUTS.transpose(1, 0, 2))
    array = tf.TensorArray(tf.float32, 4).unstack(steps)
    lengths = tf.constant([1, 4, 2])

    def loop(time: Any, output: Any, state: Any, loop_state: Any) -> Any:
        done = time >= lengths
        if output is None:
            state = cell.zero_state(3, tf.float32)
        value = tf.cond(
            tf.reduce_all(done),
            lambda: tf.zeros([3, 2]),
            lambda: array.read(tf.minimum(time, 3)),
        )
        return done, value, state, output, None

    outputs, state, _ = tf.nn.raw_rnn(cell, loop)
    return [outputs.stack(), state]


@_case
def saved_state(tf: Any) -> Any:
    class Saver:
        def state(self, name: str) -> Any:
            return tf.zeros([3, 2])

        def save_state(self, name: str, value: Any) -> Any:
            return tf.identity(value, name="saved_" + name)

    cell = tf.nn.rnn_cell.GRUCell(2)
    return tf.nn.static_state_saving_rnn(cell, _steps(tf), Saver(), "s")


@_case
def no_state_and_no_dtype(tf: Any) -> Any:
    return tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(3), tf.constant(_INPUTS))


@_case
def not_a_cell(tf: Any) -> Any:
    return tf.nn.dynamic_rnn(3, tf.constant(_INPUTS), dtype=tf.float32)


@_case
def lengths_of_another_batch(tf: Any) -> Any:
    lengths = tf.placeholder_with_default([1, 2], None)
    cell = tf.nn.rnn_cell.GRUCell(3)
    x = tf.constant(_INPUTS)
    return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, sequence_length=lengths)


@_case
def input_of_rank_3(tf: Any) -> Any:
    cell = tf.nn.rnn_cell.LSTMCell(3)
    return cell(tf.constant(_INPUTS), cell.zero_state(3, tf.float32))
