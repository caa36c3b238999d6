"""Attention mechanisms and the cell that wraps them: numbers, variables, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

seq2seq = tf.contrib.seq2seq
_MEMORY = np.random.RandomState(0).rand(2, 3, 4).astype(np.float32)
_LENGTHS = np.array([3, 2], np.int32)
_QUERY = np.random.RandomState(1).rand(2, 4).astype(np.float32)


def _softmax(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _masked(scores: Any) -> Any:
    scores = scores.copy()
    scores[1, 2:] = -np.inf
    return scores


def _variables(session: Any) -> dict[str, Any]:
    return {v.op.name: session.run(v) for v in tf.global_variables()}


def _memory() -> Any:
    memory = _MEMORY.copy()
    memory[1, 2:] = 0
    return memory


def test_luong_attention_is_the_softmax_of_inner_products() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        mechanism = seq2seq.LuongAttention(4, _MEMORY, _LENGTHS, scale=True)
        alignments, state = mechanism(
            tf.constant(_QUERY), mechanism.initial_state(2, tf.float32)
        )
        assert state is alignments
        session.run(tf.global_variables_initializer())
        values = _variables(session)
        assert set(values) == {"memory_layer/kernel", "luong_attention/attention_g"}
        keys = _memory() @ values["memory_layer/kernel"]
        scores = np.einsum("bd,btd->bt", _QUERY, keys)
        expected = _softmax(_masked(scores))
        np.testing.assert_allclose(session.run(alignments), expected, rtol=1e-5)


@pytest.mark.parametrize("normalize", [False, True])
def test_bahdanau_attention_sums_under_tanh(normalize: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        mechanism = seq2seq.BahdanauAttention(5, _MEMORY, _LENGTHS, normalize=normalize)
        alignments, _ = mechanism(tf.constant(_QUERY), None)
        session.run(tf.global_variables_initializer())
        values = _variables(session)
        scope = "bahdanau_attention/"
        keys = _memory() @ values["memory_layer/kernel"]
        query = _QUERY @ values[scope + "query_layer/kernel"]
        v, b = values[scope + "attention_v"], 0.0
        if normalize:
            v = values[scope + "attention_g"] * v / np.linalg.norm(v)
            b = values[scope + "attention_b"]
        scores = (v * np.tanh(keys + query[:, None] + b)).sum(2)
        expected = _softmax(_masked(scores))
        np.testing.assert_allclose(session.run(alignments), expected, rtol=1e-5)


def test_variables_of_the_wrapper_have_tensorflows_names() -> None:
    with tf.Graph().as_default():
        mechanism = seq2seq.BahdanauAttention(5, _MEMORY, _LENGTHS)
        cell = seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.BasicLSTMCell(4), mechanism, attention_layer_size=3
        )
        cell(tf.constant(_QUERY), cell.zero_state(2, tf.float32))
        assert [v.op.name for v in tf.global_variables()] == [
            "memory_layer/kernel",
            "attention_wrapper/basic_lstm_cell/kernel",
            "attention_wrapper/basic_lstm_cell/bias",
            "attention_wrapper/bahdanau_attention/query_layer/kernel",
            "attention_wrapper/bahdanau_attention/attention_v",
            "attention_wrapper/attention_layer/kernel",
        ]
        assert cell.output_size == 3


@pytest.mark.parametrize("mode", ["recursive", "hard"])
def test_monotonic_attention_moves_on(mode: str) -> None:
    choose = np.array([[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]], np.float32)
    before = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        attention = session.run(seq2seq.monotonic_attention(choose, before, mode))
    np.testing.assert_allclose(attention, [[0, 1, 0, 0], [0, 0, 0, 1]], atol=1e-6)


def test_monotonic_attention_in_closed_form_is_the_recursive_one() -> None:
    choose = np.random.RandomState(2).uniform(0.1, 0.9, [2, 4]).astype(np.float32)
    before = np.array([[1, 0, 0, 0], [0.25, 0.5, 0.25, 0]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        exact, closed = session.run(
            [
                seq2seq.monotonic_attention(choose, before, mode)
                for mode in ("recursive", "parallel")
            ]
        )
    np.testing.assert_allclose(closed, exact, rtol=1e-4)


def test_safe_cumprod_and_hardmax() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        product = seq2seq.safe_cumprod([[0.5, 0.5, 0.0]], axis=1, exclusive=True)
        np.testing.assert_allclose(session.run(product), [[1, 0.5, 0.25]], rtol=1e-6)
        largest = seq2seq.hardmax(tf.placeholder_with_default(_QUERY, [None, None]))
        assert (session.run(largest) == np.eye(4)[_QUERY.argmax(1)]).all()


def test_clones_of_a_state_keep_its_shapes() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        mechanism = seq2seq.LuongAttention(4, _MEMORY)
        cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism)
        state = cell.zero_state(2, tf.float32)
        ones = tf.ones([2, 4])
        assert state.clone(cell_state=ones).cell_state is ones
        with pytest.raises(ValueError, match="Invalid shape for tensor"):
            state.clone(cell_state=tf.ones([2, 5]))
        fed = tf.placeholder(tf.float32, [None, 4])
        checked = state.clone(cell_state=fed).cell_state
        assert checked.shape.as_list() == [2, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape for"):
            session.run(checked, {fed: np.ones([3, 4])})


def _wrapper(**options: Any) -> Any:
    mechanism = seq2seq.LuongAttention(4, _MEMORY)
    return seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, **options)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: _wrapper(attention_layer_size=[1, 2]),
            ValueError,
            "exactly one integer",
        ),
        (
            lambda: _wrapper(cell_input_fn=3),
            TypeError,
            "cell_input_fn must be callable",
        ),
        (
            lambda: _wrapper(
                attention_layer_size=2, attention_layer=tf.layers.Dense(2)
            ),
            ValueError,
            "Only one of",
        ),
        (
            lambda: _wrapper().zero_state(6, tf.float32),
            tf.errors.InvalidArgumentError,
            "tile_batch",
        ),
        (
            lambda: _wrapper()(tf.constant(_QUERY), tf.constant(_QUERY)),
            TypeError,
            "Expected state to be instance of AttentionWrapperState",
        ),
        (
            lambda: seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), "m"),
            TypeError,
            "must be an AttentionMechanism",
        ),
        (
            lambda: seq2seq.LuongAttention(5, _MEMORY)(tf.constant(_QUERY), None),
            ValueError,
            "Incompatible or unknown inner dimensions",
        ),
        (
            lambda: seq2seq.LuongAttention(
                5, tf.placeholder(tf.float32, [None, None, None])
            ),
            ValueError,
            "fully defined inner dims",
        ),
        (
            lambda: seq2seq.monotonic_attention(_QUERY, _QUERY, "soft"),
            ValueError,
            "mode must be",
        ),
    ],
)
def test_what_is_refused(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        make()
