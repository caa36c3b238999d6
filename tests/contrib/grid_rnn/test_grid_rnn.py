"""`tf.contrib.grid_rnn`, beside what TensorFlow 1.15 gives for the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

grids = tf.contrib.grid_rnn
INPUTS = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)


def _step(cell: Any) -> tuple[Any, Any]:
    state = tf.contrib.framework.nest.map_structure(
        lambda zeros: zeros + 0.2, cell.zero_state(2, tf.float32)
    )
    return cell(tf.constant(INPUTS), state)


def _same_for(cell: Any) -> list[tuple[str, list[int]]]:
    _step(cell)
    return [(v.op.name, v.shape.as_list()) for v in tf.trainable_variables()]


def test_each_dimension_has_its_cell() -> None:
    with tf.Graph().as_default():
        assert _same_for(grids.Grid2BasicRNNCell(3)) == [
            ("Grid2BasicRNNCell/project_m_0", [4, 3]),
            ("Grid2BasicRNNCell/recurrent/cell_1/basic_rnn_cell/kernel", [6, 3]),
            ("Grid2BasicRNNCell/recurrent/cell_1/basic_rnn_cell/bias", [3]),
            ("Grid2BasicRNNCell/recurrent/cell_0/basic_rnn_cell/kernel", [6, 3]),
            ("Grid2BasicRNNCell/recurrent/cell_0/basic_rnn_cell/bias", [3]),
        ]


def test_tied_dimensions_share_weights() -> None:
    with tf.Graph().as_default():
        names = _same_for(grids.Grid3LSTMCell(3, tied=True))
        assert names[2:] == [
            ("Grid3LSTMCell/recurrent/lstm_cell/kernel", [9, 12]),
            ("Grid3LSTMCell/recurrent/lstm_cell/bias", [12]),
        ]


def test_a_grid_of_two_by_hand() -> None:
    def tanh(*parts: Any) -> Any:
        return np.tanh(0.3 * (np.concatenate(parts, 1).sum(1, keepdims=True) + 1))

    start = tf.constant_initializer(0.3)
    with tf.Graph().as_default(), tf.variable_scope("root", initializer=start):
        output, states = _step(grids.Grid2BasicRNNCell(1))
        biases = [v.assign([0.3]) for v in tf.trainable_variables() if "bias" in v.name]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(biases)
            (got,), (first, second) = session.run([output, states])
    projected = 0.3 * INPUTS.sum(1, keepdims=True)
    others = tanh(projected, np.full([2, 1], 0.2))
    np.testing.assert_allclose(second, others, rtol=1e-5)
    np.testing.assert_allclose(got, tanh(projected, others), rtol=1e-5)
    np.testing.assert_array_equal(first, got)


def test_a_dimension_without_state_has_no_state() -> None:
    with tf.Graph().as_default():
        cell = grids.Grid2LSTMCell(3, non_recurrent_fn=tf.nn.tanh)
        assert len(cell.state_size) == 1
        (output,), states = _step(cell)
        assert len(states) == 1
        assert output.op.name.endswith("non_recurrent/cell_0/fully_connected/Tanh")


def test_states_and_outputs_of_one_matrix() -> None:
    with tf.Graph().as_default():
        cell = grids.Grid2LSTMCell(3, state_is_tuple=False, output_is_tuple=False)
        assert (cell.output_size, cell.state_size) == (3, 12)
        output, state = _step(cell)
        assert output.shape.as_list() == [2, 3]
        assert state.shape.as_list() == [2, 12]


@pytest.mark.parametrize(
    "cell", ["Grid1BasicRNNCell", "Grid1BasicLSTMCell", "Grid1LSTMCell", "Grid2GRUCell"]
)
def test_recurrences_of_grids(cell: str) -> None:
    with tf.Graph().as_default():
        outputs, _ = tf.nn.dynamic_rnn(
            getattr(grids, cell)(3), tf.zeros([2, 5, 4]), dtype=tf.float32
        )
        assert outputs[0].shape.as_list() == [2, 5, 3]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_dims": 0}, ValueError, "dims must be >= 1: 0"),
        ({"input_dims": 1}, ValueError, r"Invalid dims: \[1\]. Must be in \[0, 1\)"),
        ({"cell_fn": str}, TypeError, "cell_fn must return an RNNCell"),
    ],
)
def test_refusals(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        grids.GridRNNCell(2, **arguments)
