"""Functions that wrapped cells were given are kept in their configurations."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf

rnn_cell = tf.nn.rnn_cell


def _again(wrapper: Any) -> Any:
    config = wrapper.get_config()
    config["cell"] = rnn_cell.LSTMCell.from_config(config["cell"]["config"])
    return type(wrapper).from_config(config)


def test_residual_function() -> None:
    factor = 3
    wrapper = rnn_cell.ResidualWrapper(
        rnn_cell.LSTMCell(2), residual_fn=lambda i, o: factor * i + o
    )
    assert _again(wrapper)._residual_fn(1, 2) == 5
    plain = rnn_cell.ResidualWrapper(rnn_cell.LSTMCell(2))
    assert _again(plain).get_config() == plain.get_config()


def test_filter_of_dropped_states() -> None:
    wrapper = rnn_cell.DropoutWrapper(
        rnn_cell.LSTMCell(2), 0.5, dropout_state_filter_visitor=lambda state: False
    )
    assert _again(wrapper)._dropout_state_filter(None) is False


def test_a_cell_built_by_hand_has_a_dtype() -> None:
    cell = rnn_cell.LSTMCell(2)
    cell.build(tf.TensorShape([3, 4]))
    assert cell.dtype == "float32"
    assert [v.shape.as_list() for v in cell.weights] == [[6, 8], [8]]


def test_functions_without_code_are_told_by_name() -> None:
    wrapper = rnn_cell.ResidualWrapper(rnn_cell.LSTMCell(2), residual_fn=max)
    assert _again(wrapper)._residual_fn is max
    config = {**wrapper.get_config(), "cell": rnn_cell.LSTMCell(2)}
    with pytest.raises(ValueError, match="Unknown function in wrapper:nothing"):
        rnn_cell.ResidualWrapper.from_config({**config, "residual_fn": "nothing"})
