"""`tf.contrib.rnn`: each cell's shapes, variables and errors; a fused LSTM trains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib import rnn
from tensorloom.contrib.rnn import block_cells

# What makes a cell, the width of its output, and its variables with their shapes.
CELLS: list[tuple[Callable[[], Any], int, dict[str, list[int]]]] = [
    (
        lambda: rnn.LayerNormBasicLSTMCell(4),
        4,
        {
            "kernel": [10, 16],
            **{
                f"{gate}/{part}": [4]
                for gate in ("input", "transform", "forget", "output", "state")
                for part in ("gamma", "beta")
            },
        },
    ),
    (
        lambda: rnn.NASCell(4, num_proj=3, use_bias=True),
        3,
        {
            "recurrent_kernel": [3, 32],
            "kernel": [6, 32],
            "bias": [32],
            "projection_weights": [4, 3],
        },
    ),
    (
        lambda: rnn.LSTMBlockCell(4, use_peephole=True),
        4,
        {
            "kernel": [10, 16],
            "bias": [16],
            "w_i_diag": [4],
            "w_f_diag": [4],
            "w_o_diag": [4],
        },
    ),
    (
        lambda: rnn.GRUBlockCell(4),
        4,
        {"w_ru": [10, 8], "b_ru": [8], "w_c": [10, 4], "b_c": [4]},
    ),
    (
        lambda: rnn.GRUBlockCellV2(4),
        4,
        {
            "gates/kernel": [10, 8],
            "gates/bias": [8],
            "candidate/kernel": [10, 4],
            "candidate/bias": [4],
        },
    ),
    (
        lambda: rnn.CoupledInputForgetGateLSTMCell(4, num_unit_shards=3),
        4,
        {"W_0": [4, 12], "W_1": [3, 12], "W_2": [3, 12], "B": [12]},
    ),
    (lambda: rnn.UGRNNCell(4), 4, {"kernel": [10, 8], "bias": [8]}),
    (
        lambda: rnn.IntersectionRNNCell(4, num_in_proj=4),
        4,
        {
            "in_projection/kernel": [6, 4],
            "in_projection/bias": [4],
            "kernel": [8, 16],
            "bias": [16],
        },
    ),
    (
        lambda: rnn.GLSTMCell(4, number_of_groups=2),
        4,
        {
            "group0/kernel": [5, 8],
            "group1/kernel": [5, 8],
            **{f"bias_{gate}": [4] for gate in "ijfo"},
        },
    ),
    (lambda: rnn.SRUCell(4), 4, {"kernel": [6, 16], "bias": [8]}),
    (
        lambda: rnn.IndRNNCell(4),
        4,
        {"kernel_w": [6, 4], "kernel_u": [1, 4], "bias": [4]},
    ),
    (
        lambda: rnn.IndyLSTMCell(4),
        4,
        {"kernel_w": [6, 16], "kernel_u": [1, 16], "bias": [16]},
    ),
    (
        lambda: rnn.OutputProjectionWrapper(rnn.BasicRNNCell(4), 5),
        5,
        {
            "basic_rnn_cell/kernel": [10, 4],
            "basic_rnn_cell/bias": [4],
            "kernel": [4, 5],
            "bias": [5],
        },
    ),
]


@pytest.mark.parametrize(("make", "width", "variables"), CELLS)
def test_output_and_variables_of_a_cell(
    make: Callable[[], Any], width: int, variables: dict[str, list[int]]
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        cell = make()
        assert cell.output_size == width
        output, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 3, 6]), dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        value = session.run(output)
        assert value.shape == (2, 3, width)
        assert np.isfinite(value).all()
        made = {
            v.op.name.removeprefix("rnn/").split("/", 1)[1]: v.shape.as_list()
            for v in tf.global_variables()
        }
        assert made == variables
        assert len(cell.variables) == len(variables)


@pytest.mark.parametrize("peephole", [False, True])
def test_block_cells_are_the_plain_cells(peephole: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.random.RandomState(0).randn(4, 3, 5), tf.float32)
        options = {"dtype": tf.float32, "sequence_length": [4, 1, 2]}
        own: dict[str, Any] = {"cell_clip": 0.3}

        def over_time(cell: Any) -> Any:
            return tf.nn.dynamic_rnn(cell, x, time_major=True, **options)

        runs: list[Callable[[], Any]] = [
            lambda: over_time(rnn.LSTMCell(4, use_peepholes=peephole, **own)),
            lambda: over_time(rnn.LSTMBlockCell(4, use_peephole=peephole, **own)),
            lambda: rnn.LSTMBlockFusedCell(4, use_peephole=peephole, **own)(
                x, **options
            ),
        ]
        results = []
        for i, run in enumerate(runs):
            equal = tf.random_uniform_initializer(-0.5, 0.5, seed=2)
            with tf.variable_scope(f"net{i}", initializer=equal):
                results.append(run())
        session.run(tf.global_variables_initializer())
        want, *others = session.run(results)
        for other in others:
            np.testing.assert_allclose(other[0], want[0], 1e-5, 1e-6)
            np.testing.assert_allclose(other[1], want[1], 1e-5, 1e-6)


def test_dropout_of_the_normalized_lstm_is_recurrent() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        keep = tf.placeholder(tf.float32, [])
        cell = rnn.LayerNormBasicLSTMCell(
            50, dropout_keep_prob=keep, dropout_prob_seed=1, layer_norm=False
        )
        _, (memory, _) = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        session.run(tf.global_variables_initializer())
        assert (session.run(memory, {keep: 1.0}) != 0).all()
        zeros = (session.run(memory, {keep: 0.5}) == 0).mean()
        assert 0.3 < zeros < 0.7


def test_compiled_wrapper_marks_operations() -> None:
    with tf.Graph().as_default() as graph:
        for _ in range(2):
            cell = rnn.CompiledWrapper(rnn.GRUCell(2))
            output, _ = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        assert output.op.get_attr("_XlaCompile") is True
        assert output.op.get_attr("_XlaScope") == b"jit_scope_1"
        variable = graph.get_operation_by_name("gru_cell/gates/kernel")
        assert variable.get_attr("_XlaCompile") is False


ERRORS: list[tuple[type[Exception], str, Callable[[], Any]]] = [
    (ValueError, "Exactly one of", lambda: rnn.GRUBlockCell()),
    (ValueError, "must be > 0", lambda: rnn.EmbeddingWrapper(rnn.GRUCell(2), 0, 1)),
    (TypeError, "not an RNNCell", lambda: rnn.InputProjectionWrapper(3, 1)),
    (ValueError, "divisible", lambda: rnn.GLSTMCell(3, number_of_groups=2)),
    (ValueError, "num_frequency_blocks", lambda: rnn.GridLSTMCell(2)),
    (ValueError, "conv_ndims=2", lambda: rnn.ConvLSTMCell(2, [3, 1], 2, [2])),
    (
        ValueError,
        "state_is_tuple",
        lambda: rnn.AttentionCellWrapper(rnn.LSTMCell(2), 2, state_is_tuple=False),
    ),
    (
        ValueError,
        "initial_state or dtype",
        lambda: rnn.LSTMBlockFusedCell(2)(tf.ones([2, 3, 4])),
    ),
    (
        ValueError,
        "same depth",
        lambda: rnn.stack_bidirectional_dynamic_rnn(
            [rnn.GRUCell(2)], [rnn.GRUCell(2)] * 2, tf.ones([2, 3, 4])
        ),
    ),
]


@pytest.mark.parametrize(("error", "message", "run"), ERRORS)
def test_errors(error: type[Exception], message: str, run: Callable[[], Any]) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        run()


def test_an_lstm_over_a_list_of_steps() -> None:
    steps = [tf.fill([2, 3], 0.1 * i) for i in range(1, 4)]
    weights, bias = tf.fill([5, 8], 0.2), tf.fill([8], 0.1)
    outputs = block_cells.block_lstm(tf.constant(3, tf.int64), steps, weights, bias)
    cell = rnn.LSTMBlockFusedCell(2, dtype=tf.float32)
    expected, _ = cell(tf.stack(steps), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(cell.weights[0].assign(weights))
        session.run(cell.weights[1].assign(bias))
        found, wanted = session.run([outputs[-1], expected])
    assert [len(output) for output in outputs] == [3] * 7
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    with pytest.raises(ValueError, match="`b` shape must not be None"):
        block_cells.block_lstm(3, steps, weights, tf.placeholder(tf.float32, [None]))
