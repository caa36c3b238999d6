"""What recurrent models of `tf.contrib.learn` are made of."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.learn.estimators import (
    dynamic_rnn_models,
    rnn_parts,
    state_saving_rnn_models,
)

learn = tf.contrib.learn


def test_last_steps_and_masks() -> None:
    values = np.arange(12.0, dtype=np.float32).reshape(2, 3, 2)
    lengths = tf.constant([1, 3])
    last = rnn_parts.select_last_activations(tf.constant(values), lengths)
    rows, labels = rnn_parts.mask_activations_and_labels(
        tf.constant(values), tf.constant([[1, 2, 3], [4, 5, 6]]), lengths
    )
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(last), values[[0, 1], [0, 2]])
        np.testing.assert_array_equal(session.run(labels), [1, 4, 5, 6])
        assert session.run(rows).shape == (4, 2)


def test_cells_in_layers() -> None:
    one = rnn_parts.construct_rnn_cell(3, "lstm")
    assert isinstance(one, tf.nn.rnn_cell.LSTMCell)
    layers = rnn_parts.construct_rnn_cell([3, 2], "gru", [0.5, 0.6, 0.7])
    assert isinstance(layers, tf.nn.rnn_cell.MultiRNNCell)
    with pytest.raises(ValueError, match="one greater than"):
        rnn_parts.construct_rnn_cell([3], "gru", [0.5])
    with pytest.raises(ValueError, match="supported cell types"):
        rnn_parts.construct_rnn_cell(3, int)
    names = state_saving_rnn_models.get_state_names(one)
    assert names == ["rnn_cell_state_0_c", "rnn_cell_state_0_h"]
    starts = state_saving_rnn_models.get_initial_states(one)
    assert {name: t.shape.as_list() for name, t in starts.items()} == {
        name: [3] for name in names
    }


def test_states_go_both_ways() -> None:
    cell = rnn_parts.construct_rnn_cell([3, 2], "lstm")
    state = cell.zero_state(2, tf.float32)
    parts = rnn_parts.state_tuple_to_dict(state)
    assert sorted(parts) == [f"rnn_cell_state_{index}" for index in range(4)]
    again = dynamic_rnn_models.dict_to_state_tuple(parts, cell)
    assert [part.c.shape.as_list() for part in again] == [[2, 3], [2, 2]]
    assert dynamic_rnn_models.dict_to_state_tuple({}, cell) is None
    del parts["rnn_cell_state_1"]
    with pytest.raises(ValueError, match="partially specified"):
        dynamic_rnn_models.dict_to_state_tuple(parts, cell)


def test_wrong_types_are_refused() -> None:
    kind = learn.ProblemType
    with pytest.raises(ValueError, match="prediction_type"):
        learn.DynamicRnnEstimator(kind.CLASSIFICATION, 7, [])
    with pytest.raises(ValueError, match="num_classes must be specified"):
        learn.DynamicRnnEstimator(kind.CLASSIFICATION, 1, [])
    with pytest.raises(ValueError, match="problem_type must be either"):
        learn.DynamicRnnEstimator(kind.LOGISTIC_REGRESSION, 1, [])
    with pytest.raises(ValueError, match="No key in features for sequence"):
        state_saving_rnn_models.prepare_features_for_sqss(
            {}, None, "infer", [tf.feature_column.numeric_column("x")], None
        )
