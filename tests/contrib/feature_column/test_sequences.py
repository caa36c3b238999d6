"""`tf.contrib.feature_column.sequence_input_layer`."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.contrib import feature_column as sequences


def _features() -> dict[str, Any]:
    return {
        "word": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "a"], [2, 2]),
        "size": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1.0, 2.0, 3.0], [2, 2]),
    }


def test_columns_of_each_step_are_side_by_side() -> None:
    words = sequences.sequence_categorical_column_with_vocabulary_list(
        "word", ["a", "b"]
    )
    columns = [
        tf.feature_column.indicator_column(words),
        sequences.sequence_numeric_column("size", normalizer_fn=lambda x: x * 10.0),
        tf.feature_column.embedding_column(words, 1, initializer=tf.ones_initializer()),
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        layer, lengths = sequences.sequence_input_layer(_features(), columns)
        assert [v.op.name for v in tf.global_variables()] == [
            "sequence_input_layer/word_embedding/embedding_weights"
        ]
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        values, counts = session.run([layer, lengths])
    assert counts.tolist() == [1, 2]
    assert values.tolist() == [
        [[10, 1, 1, 0], [0, 0, 0, 0]],
        [[20, 1, 0, 1], [30, 1, 1, 0]],
    ]


def test_columns_without_sequences_are_refused() -> None:
    columns = [tf.feature_column.numeric_column("size")]
    message = "must be of type _SequenceDenseColumn"
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        sequences.sequence_input_layer(_features(), columns)
