"""Networks in one operation, beside the cells that their checkpoints restore into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

cudnn = tf.contrib.cudnn_rnn
LAYERS = {
    "lstm": (cudnn.CudnnLSTM, cudnn.CudnnCompatibleLSTMCell),
    "gru": (cudnn.CudnnGRU, cudnn.CudnnCompatibleGRUCell),
    "tanh": (cudnn.CudnnRNNTanh, tf.nn.rnn_cell.BasicRNNCell),
    "relu": (
        cudnn.CudnnRNNRelu,
        lambda n: tf.nn.rnn_cell.BasicRNNCell(n, activation=tf.nn.relu),
    ),
}
X = np.random.RandomState(0).randn(4, 2, 3).astype(np.float32)


def _by_cells(cell: Any, both: bool, lengths: Any) -> Any:
    cells = [cell(5) for _ in range(4 if both else 2)]
    if not both:
        return tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.MultiRNNCell(cells),
            tf.constant(X),
            lengths,
            dtype=tf.float32,
            time_major=True,
        )[0]
    return tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
        cells[:2],
        cells[2:],
        tf.constant(X),
        sequence_length=lengths,
        dtype=tf.float32,
        time_major=True,
    )[0]


@pytest.mark.slow
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_checkpoints_restore_into_cells(name: str, both: bool, tmp_path: Any) -> None:
    layer, cell = LAYERS[name]
    lengths = [4, 2]
    network = layer(
        2,
        5,
        direction="bidirectional" if both else "unidirectional",
        bias_initializer=tf.random_normal_initializer(seed=1),
    )
    outputs, _ = network(tf.constant(X), sequence_lengths=lengths)
    loss = tf.reduce_sum(tf.square(outputs))
    slopes = tf.gradients(loss, [network.kernel])[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        expected, slope = sess.run([outputs, slopes])
        path = tf.train.Saver().save(sess, str(tmp_path / "c"))
    with tf.Graph().as_default(), tf.variable_scope(network.scope_name):
        outputs = _by_cells(cell, both, lengths)
        loss = tf.reduce_sum(tf.square(outputs))
        found = tf.gradients(loss, tf.trainable_variables())
        with tf.Session() as sess:
            tf.train.Saver().restore(sess, path)
            np.testing.assert_allclose(sess.run(outputs), expected, atol=1e-5)
            total = sum(np.square(one).sum() for one in sess.run(found))
    # A cell's bias is two vectors of cuDNN's, with a gradient each.
    assert np.square(slope).sum() == pytest.approx(total, rel=0.5)
    assert total > 0


def test_gradients_are_the_slopes() -> None:
    network = cudnn.CudnnLSTM(
        2, 3, dtype=tf.float64, bias_initializer=tf.ones_initializer()
    )
    x = tf.placeholder(tf.float64, [4, 2, 3])
    outputs, states = network(x)
    loss = tf.reduce_sum(outputs**2) + sum(tf.reduce_sum(s**2) for s in states)
    by_x, by_kernel = tf.gradients(loss, [x, network.kernel])
    value = X.astype(np.float64)
    step = np.zeros_like(value)
    step[1, 0, 2] = 1e-5
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        got, _ = sess.run([by_x, by_kernel], {x: value})
        high, low = (sess.run(loss, {x: value + s}) for s in (step, -step))
    assert got[1, 0, 2] == pytest.approx((high - low) / 2e-5, rel=1e-6)


def test_dropout_is_between_layers_in_training_alone() -> None:
    network = cudnn.CudnnLSTM(2, 8, dropout=0.5, seed=3)
    trained, _ = network(tf.constant(X), training=True)
    used, _ = network(tf.constant(X), training=False)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        first, second = sess.run(trained), sess.run(trained)
        assert not np.array_equal(first, second)
        assert np.array_equal(sess.run(used), sess.run(used))


def test_batch_first_and_projections() -> None:
    from tensorloom.contrib.cudnn_rnn.functions import (
        cudnn_lstm,
        cudnn_rnn_opaque_params_size,
    )

    size = cudnn_rnn_opaque_params_size("lstm", 1, 4, 3, num_proj=2)
    with tf.Session() as sess:
        count = sess.run(size)
        assert count == 4 * 4 * 3 + 4 * 4 * 2 + 2 * 4 + 8 * 4
        params = tf.constant(np.linspace(-1, 1, count).astype(np.float32))
        h, c = tf.zeros([2, 1, 2]), tf.zeros([2, 1, 4])
        first = cudnn_lstm(
            X.transpose(1, 0, 2), h, c, params, True, time_major=False, num_proj=2
        )
        second = cudnn_lstm(
            X, tf.zeros([1, 2, 2]), tf.zeros([1, 2, 4]), params, True, num_proj=2
        )
        one, two = sess.run([first, second])
    np.testing.assert_allclose(one[0], two[0].transpose(1, 0, 2), atol=1e-6)
    np.testing.assert_allclose(one[2], two[2].transpose(1, 0, 2), atol=1e-6)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: cudnn.CudnnLSTM(1, 2, direction="up"), ValueError, "direction: up"),
        (lambda: cudnn.CudnnLSTM(1, 2, input_mode="x"), ValueError, "input_mode: x"),
        (lambda: cudnn.CudnnGRU(1, 2, dtype=tf.int32), ValueError, "Only support"),
        (lambda: cudnn.CudnnGRU(1, 2).input_size, ValueError, "not been built"),
        (lambda: cudnn.CudnnLSTM(1, 2)(tf.zeros([2, 3])), ValueError, "3 dims"),
        (
            lambda: cudnn.CudnnLSTM(1, 2)(tf.zeros([2, 3, 1]), initial_state=[1]),
            TypeError,
            "expecting tuple",
        ),
    ],
)
def test_refusals(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()
