"""Ragged tensors, slices and arrays as specs and as elements, as in TensorFlow 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf

_D = tf.data.Dataset


def _elements(dataset: Any) -> list[Any]:
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                value = session.run(element)
            except tf.errors.OutOfRangeError:
                return found
            found.append(value.to_list() if hasattr(value, "to_list") else value)


def _twice_nested() -> Any:
    return tf.ragged.constant([[[1], [2, 3]], [[4]]])


def _rows(number: Any) -> Any:
    return tf.RaggedTensor.from_row_splits(tf.range(number), [0, number])


_PIPELINES: list[tuple[Callable[[], Any], Any, str]] = [
    (
        lambda: _D.from_tensor_slices(_twice_nested()),
        [[[1], [2, 3]], [[4]]],
        "(?, ?)",
    ),
    (
        lambda: _D.from_tensors(tf.ragged.constant([[1, 2], [3]])),
        [[[1, 2], [3]]],
        "(2, ?)",
    ),
    (
        lambda: _D.from_tensors(tf.ragged.constant([[1, 2], [3]])).map(lambda r: r * 2),
        [[[2, 4], [6]]],
        "(2, ?)",
    ),
    (lambda: _D.range(3).map(_rows), [[[]], [[0]], [[0, 1]]], "(1, ?)"),
    (
        lambda: _D.from_tensors(tf.ragged.constant([[1, 2], [3]])).repeat(3).batch(2),
        [[[[1, 2], [3]]] * 2, [[[1, 2], [3]]]],
        "(?, 2, ?)",
    ),
    (
        lambda: _D.from_tensors(_twice_nested()).apply(tf.data.experimental.unbatch()),
        [[[1], [2, 3]], [[4]]],
        "(?, ?)",
    ),
    (
        lambda: _D.from_tensor_slices(_twice_nested()).filter(
            lambda row: tf.equal(row.nrows(), 1)
        ),
        [[[4]]],
        "(?, ?)",
    ),
]


@pytest.mark.parametrize("make", range(len(_PIPELINES)))
def test_ragged_tensors_are_elements(make: int) -> None:
    pipeline, expected, shape = _PIPELINES[make]
    dataset = pipeline()
    assert str(dataset.output_shapes) == shape
    assert isinstance(dataset.output_classes, tf.RaggedTensorSpec)
    assert _elements(dataset) == expected


def test_rows_of_one_dimension_are_no_elements() -> None:
    dataset = _D.from_tensor_slices(tf.ragged.constant([[1, 2], [3]]))
    with pytest.raises(ValueError, match="ragged_rank must be non-negative; got 0"):
        tf.data.make_one_shot_iterator(dataset).get_next()


def test_an_array_goes_from_function_to_function() -> None:
    def array(number: Any) -> Any:
        return tf.TensorArray(tf.int64, 2).unstack(tf.stack([number, number]))

    dataset = _D.range(2).map(array).map(lambda a: a.stack() + 1)
    assert [value.tolist() for value in _elements(dataset)] == [[1, 1], [2, 2]]


_SPECS = [
    (
        lambda: tf.IndexedSlicesSpec([None, 3], tf.int32, tf.int32, tf.int32, [2]),
        "IndexedSlicesSpec(TensorShape([Dimension(None), Dimension(3)]), tf.int32, "
        "tf.int32, tf.int32, TensorShape([Dimension(2)]))",
        "IndexedSlices",
    ),
    (
        lambda: tf.RaggedTensorSpec([2, None], tf.int32),
        "RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.int32, 1, "
        "tf.int64)",
        "RaggedTensor",
    ),
    (
        lambda: tf.TensorArraySpec([2], tf.int32, True, False),
        "TensorArraySpec(TensorShape([Dimension(2)]), tf.int32, True, False)",
        "TensorArray",
    ),
]


@pytest.mark.parametrize(("make", "text", "kind"), _SPECS)
def test_a_spec_says_what_it_is(make: Any, text: str, kind: str) -> None:
    spec = make()
    assert repr(spec) == text
    assert spec.value_type.__name__ == kind
    assert spec == make()
    assert hash(spec) == hash(make())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((None, tf.int32), ValueError),
        (([2, None], tf.int32, 3), ValueError),
        (([2, None], tf.int32, "a"), TypeError),
        (([], tf.int32, 1), ValueError),
    ],
)
def test_impossible_ranks_are_refused(arguments: Any, error: Any) -> None:
    with pytest.raises(error):
        tf.RaggedTensorSpec(*arguments)


def test_values_fit_their_specs() -> None:
    ragged = tf.ragged.constant([[1, 2], [3]])
    slices = tf.IndexedSlices(tf.zeros([2, 3]), tf.constant([0, 1], tf.int64))
    array = tf.TensorArray(tf.float32, 3, element_shape=[2])
    fits = tf.RaggedTensorSpec([None, None], tf.int32)
    assert fits.is_compatible_with(ragged)
    assert not fits.is_compatible_with(slices)
    assert tf.IndexedSlicesSpec([2, 3]).is_compatible_with(slices)
    assert not tf.IndexedSlicesSpec([2, 4]).is_compatible_with(slices)
    assert tf.TensorArraySpec([2]).is_compatible_with(array)
    assert not tf.TensorArraySpec([3]).is_compatible_with(array)
    assert tf.TensorArraySpec.from_value(array) == tf.TensorArraySpec([2])
    assert tf.RaggedTensorSpec.from_value(ragged) == tf.RaggedTensorSpec(
        [2, None], tf.int32
    )
