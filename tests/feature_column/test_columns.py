"""Columns as values: names, sizes, what they parse, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf

fc = tf.feature_column


def _number(**options: Any) -> Any:
    return fc.numeric_column("x", shape=2, **options)


def _ids() -> Any:
    return fc.categorical_column_with_identity("i", 4)


COLUMNS = [
    # column, name, number of ids, shape of its dense tensor
    (_number, "x", None, [2]),
    (lambda: fc.bucketized_column(_number(), [0.0, 1.0]), "x_bucketized", 6, [2, 3]),
    (lambda: fc.categorical_column_with_hash_bucket("k", 9), "k", 9, None),
    (_ids, "i", 4, None),
    (
        lambda: fc.categorical_column_with_vocabulary_list("v", ["a"], None, -1, 3),
        "v",
        4,
        None,
    ),
    (
        lambda: fc.weighted_categorical_column(_ids(), "w"),
        "i_weighted_by_w",
        4,
        None,
    ),
    (
        lambda: fc.crossed_column(["z", fc.crossed_column(["b", _ids()], 3)], 7),
        "b_X_i_X_z",
        7,
        None,
    ),
    (lambda: fc.indicator_column(_ids()), "i_indicator", None, [1, 4]),
    (lambda: fc.embedding_column(_ids(), 3), "i_embedding", None, [3]),
    (
        lambda: fc.sequence_categorical_column_with_identity("s", 5),
        "s",
        5,
        None,
    ),
    (lambda: fc.sequence_numeric_column("q", 3), "q", None, [3]),
]


@pytest.mark.parametrize(("make", "name", "buckets", "shape"), COLUMNS)
def test_a_column_knows_its_name_and_size(
    make: Any, name: str, buckets: int | None, shape: list[int] | None
) -> None:
    column = make()
    assert column.name == name
    assert getattr(column, "num_buckets", None) == buckets
    if shape is not None:
        assert column.variable_shape.as_list() == shape
    assert column == make() or column.name.endswith("embedding")
    assert column._is_v2_column


def test_features_of_all_columns_are_parsed() -> None:
    columns = [
        fc.bucketized_column(_number(default_value=1.5), [0.0]),
        fc.weighted_categorical_column(_ids(), "w"),
        fc.crossed_column(["k", "i"], 5),
    ]
    assert fc.make_parse_example_spec(columns[:2]) == {
        "x": tf.FixedLenFeature((2,), tf.float32, (1.5, 1.5)),
        "i": tf.VarLenFeature(tf.int64),
        "w": tf.VarLenFeature(tf.float32),
    }
    with pytest.raises(ValueError, match="different parse_spec for key i"):
        fc.make_parse_example_spec(columns)


MISTAKES = [
    (lambda: fc.numeric_column("x", 0), ValueError, "greater than 0"),
    (lambda: fc.numeric_column("x", 1.5), TypeError, "must be integer"),
    (lambda: fc.numeric_column("x", 2, [1]), ValueError, "equal to given shape"),
    (lambda: fc.numeric_column("x", dtype=tf.string), ValueError, "convertible to f"),
    (lambda: fc.bucketized_column(_number(), [1, 1]), ValueError, "given: 1 before 1"),
    (lambda: fc.bucketized_column(_ids(), [1]), ValueError, "with numeric_column"),
    (lambda: fc.crossed_column(["a", _number()], 3), ValueError, "Unsupported key"),
    (
        lambda: fc.crossed_column(
            ["a", fc.categorical_column_with_hash_bucket("k", 3)], 3
        ),
        ValueError,
        "not supported for crossing",
    ),
    (
        lambda: fc.categorical_column_with_vocabulary_file("w", "/no/such/file"),
        ValueError,
        "in w does not exist: /no/such/file",
    ),
    (lambda: fc.embedding_column(_ids(), 0), ValueError, "Invalid dimension 0"),
    (
        lambda: fc.embedding_column(_ids(), 2, ckpt_to_load_from="a"),
        ValueError,
        "none of them",
    ),
]


@pytest.mark.parametrize(("make", "kind", "message"), MISTAKES)
def test_wrong_arguments(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"(?i){message}"):
        make()


def test_the_package_is_loaded_when_it_is_used() -> None:
    assert "numeric_column" in dir(fc)
    with pytest.raises(AttributeError, match="no attribute 'numerics'"):
        _ = fc.numerics
