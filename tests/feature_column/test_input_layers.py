"""`input_layer` and `linear_model`: values, variables, and mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

fc = tf.feature_column


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _run(*tensors: Any) -> Any:
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sess.run(tensors)


def _words() -> Any:
    return fc.categorical_column_with_vocabulary_list("w", ["a", "b"])


SPARSE = tf.SparseTensorValue(
    np.array([[0, 0], [0, 1], [2, 0]]), np.array(["b", "b", "?"]), np.array([3, 2])
)
DENSE = [
    (
        lambda: fc.numeric_column("x", 2, normalizer_fn=lambda x: x + 1),
        [[2, 3], [4, 0]],
    ),
    (
        lambda: fc.bucketized_column(fc.numeric_column("x", 2), [0.0, 2.0]),
        [[0, 1, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0]],
    ),
]


@pytest.mark.parametrize(("make", "expected"), DENSE)
def test_numbers(make: Any, expected: list[list[float]]) -> None:
    features = {"x": tf.constant([[1.0, 2.0], [3.0, -1.0]])}
    (value,) = _run(fc.input_layer(features, [make()]))
    np.testing.assert_array_equal(value, expected)


def test_unknown_words_and_empty_rows_are_zeros() -> None:
    table = np.array([[1.0, 2.0], [10.0, 20.0]], np.float32)
    start = tf.constant_initializer(table)
    columns = [
        fc.indicator_column(_words()),
        fc.embedding_column(_words(), 2, combiner="sqrtn", initializer=start),
    ]
    parts: dict[Any, Any] = {}
    y = fc.input_layer({"w": SPARSE}, columns, cols_to_output_tensors=parts)
    value, ones, rows = _run(y, parts[columns[0]], parts[columns[1]])
    np.testing.assert_array_equal(ones, [[0, 2], [0, 0], [0, 0]])
    np.testing.assert_allclose(rows, [[200**0.5, 800**0.5], [0, 0], [0, 0]], rtol=1e-6)
    np.testing.assert_array_equal(value, np.concatenate([rows, ones], 1))


def test_two_columns_share_a_transformation() -> None:
    bucketized = fc.bucketized_column(fc.numeric_column("x"), [0.0])
    crossed = fc.crossed_column([bucketized, "w"], 5)
    fc.linear_model({"x": [[1.0]], "w": [["a"]]}, [bucketized, crossed])
    types = [op.type for op in tf.get_default_graph().get_operations()]
    assert types.count("Bucketize") == 1


def test_a_linear_model_has_weights_by_column() -> None:
    columns = [_words(), fc.numeric_column("x")]
    found: dict[Any, Any] = {}
    y = fc.linear_model(
        {"w": SPARSE, "x": [[1.0], [2.0], [3.0]]},
        columns,
        units=2,
        sparse_combiner="mean",
        cols_to_vars=found,
    )
    assert [v.name for v in found["bias"]] == ["linear_model/bias_weights:0"]
    (words,), (numbers,) = (found[column] for column in columns)
    assert words.name == "linear_model/w/weights:0"
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        words.load([[1.0, 2.0], [3.0, 4.0]])
        numbers.load([[10.0, 0.0]])
        found["bias"][0].load([0.5, -0.5])
        np.testing.assert_allclose(
            sess.run(y), [[13.5, 3.5], [20.5, -0.5], [30.5, -0.5]]
        )


def test_an_input_layer_object_makes_its_variables_once() -> None:
    from tensorloom.feature_column.input_layers import InputLayer

    layer = InputLayer([fc.embedding_column(_words(), 2)], name="in")
    one, two = layer({"w": SPARSE}), layer({"w": SPARSE})
    assert one is not two
    assert [v.name for v in layer.trainable_variables] == [
        "in/w_embedding/embedding_weights:0"
    ]
    assert len(tf.global_variables()) == 1


MISTAKES = [
    ({"x": 1.0}, "x", "cannot have rank 0"),
    ({"y": [1.0]}, "x", r"Feature x is not in features dictionary.*\['y'\]"),
    ({"x": SPARSE}, "x", "must be a Tensor"),
    ({"x": [1.0], "z": [1.0, 2.0]}, "xz", "Batch size"),
    ({"x": [1.0]}, "xx", "Duplicate feature column name"),
    ({"x": [1.0]}, "", "must not be empty"),
]


@pytest.mark.parametrize(("features", "keys", "message"), MISTAKES)
def test_mistakes(features: Any, keys: str, message: str) -> None:
    features = {
        key: value if isinstance(value, tf.SparseTensorValue) else tf.constant(value)
        for key, value in features.items()
    }
    columns = [fc.numeric_column(key) for key in keys]
    for function in (fc.input_layer, fc.linear_model):
        with pytest.raises(ValueError, match=message):
            function(features, columns)


def test_categorical_columns_must_be_wrapped() -> None:
    with pytest.raises(ValueError, match="wrap a categorical column"):
        fc.input_layer({"w": SPARSE}, [_words()])
    sequence = fc.sequence_categorical_column_with_identity("w", 3)
    with pytest.raises(ValueError, match="must not be of type _SequenceCateg"):
        fc.input_layer({"w": [[1]]}, [fc.embedding_column(sequence, 2)])
