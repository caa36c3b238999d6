"""Recurrent networks give TensorFlow's values, names and errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.nn.rnn_cases import CASES
from tests.ops.recorded_cases import differences, observe, read

EXPECTED = read(Path(__file__).parent / "recorded" / "rnn_cases.txt")


@pytest.mark.parametrize("name", CASES)
def test_as_in_tensorflow(name: str) -> None:
    problems = differences(observe(tf, CASES[name]), EXPECTED[name], 2e-4, 2e-5)
    assert not problems, "\n".join(problems)


def _shapes() -> dict[str, list[int]]:
    return {v.op.name: v.shape.as_list() for v in tf.global_variables()}


def test_variables_of_a_stack() -> None:
    cells = tf.nn.rnn_cell
    stack = cells.MultiRNNCell(
        [
            cells.LSTMCell(4, use_peepholes=True, num_proj=3),
            cells.GRUCell(2),
            cells.BasicRNNCell(2),
        ]
    )
    tf.nn.dynamic_rnn(stack, tf.zeros([2, 3, 5]), dtype=tf.float32)
    assert _shapes() == {
        "rnn/multi_rnn_cell/cell_0/lstm_cell/kernel": [8, 16],
        "rnn/multi_rnn_cell/cell_0/lstm_cell/bias": [16],
        "rnn/multi_rnn_cell/cell_0/lstm_cell/w_f_diag": [4],
        "rnn/multi_rnn_cell/cell_0/lstm_cell/w_i_diag": [4],
        "rnn/multi_rnn_cell/cell_0/lstm_cell/w_o_diag": [4],
        "rnn/multi_rnn_cell/cell_0/lstm_cell/projection/kernel": [4, 3],
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel": [5, 4],
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/bias": [4],
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/kernel": [5, 2],
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/bias": [2],
        "rnn/multi_rnn_cell/cell_2/basic_rnn_cell/kernel": [4, 2],
        "rnn/multi_rnn_cell/cell_2/basic_rnn_cell/bias": [2],
    }
    assert len(stack.trainable_variables) == 12


def test_cells_of_one_class_get_scopes_of_their_own() -> None:
    cells = [tf.nn.rnn_cell.LSTMCell(2) for _ in range(2)]
    named = tf.nn.rnn_cell.LSTMCell(2, name="mine")
    x = tf.zeros([3, 2])
    for cell in (*cells, named):
        cell(x, cell.zero_state(3, tf.float32))
    assert [cell.scope_name for cell in cells] == ["lstm_cell", "lstm_cell_1"]
    assert [cell.name for cell in cells] == ["lstm_cell_1", "lstm_cell_2"]
    assert named.weights[0].op.name == "mine/kernel"


def test_node_names_of_a_cell() -> None:
    cell = tf.nn.rnn_cell.BasicRNNCell(2)
    output, _ = cell(tf.zeros([3, 2]), tf.zeros([3, 2]))
    assert output.op.name == "basic_rnn_cell/Tanh"
    ours = [n for n in _node_names() if n.startswith("basic_rnn_cell/")]
    assert [n for n in ours if "kernel" not in n and "bias" not in n] == [
        "basic_rnn_cell/concat/axis",
        "basic_rnn_cell/concat",
        "basic_rnn_cell/MatMul",
        "basic_rnn_cell/BiasAdd",
        "basic_rnn_cell/Tanh",
    ]


def _node_names() -> list[str]:
    return [node.name for node in tf.get_default_graph().as_graph_def().node]


class Doubler(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc, name-defined]
    """A user's cell with a variable of its own."""

    @property
    def state_size(self) -> int:
        return 2

    @property
    def output_size(self) -> int:
        return 2

    def call(self, inputs: Any, state: Any) -> Any:
        weight = tf.get_variable("w", [], initializer=tf.constant_initializer(2.0))
        result = inputs * weight + state
        return result, result


def test_a_users_cell() -> None:
    cell = Doubler()
    outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([1, 3, 2]), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values, last = session.run([outputs, state])
    np.testing.assert_array_equal(values[0, :, 0], [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(last, [[6.0, 6.0]])
    assert [v.op.name for v in cell.variables] == ["rnn/doubler/w"]


def test_a_network_learns() -> None:
    x = tf.placeholder(tf.float32, [8, 6, 1])
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), x, dtype=tf.float32)
    w = tf.get_variable("w", [8, 1])
    loss = tf.reduce_mean(
        tf.square(tf.matmul(outputs[:, -1], w) - tf.reduce_mean(x, axis=1))
    )
    step = tf.train.AdamOptimizer(0.05).minimize(loss)
    data = np.random.RandomState(0).randn(8, 6, 1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(loss, {x: data})
        for _ in range(30):
            session.run(step, {x: data})
        assert session.run(loss, {x: data}) < first / 2


def test_earlier_names_of_cells() -> None:
    for name in ("LSTMCell", "GRUCell", "MultiRNNCell", "LSTMStateTuple"):
        assert getattr(tf.contrib.rnn, name) is getattr(tf.nn.rnn_cell, name)
    assert tf.contrib.rnn.static_rnn is tf.nn.static_rnn
