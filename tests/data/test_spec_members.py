"""Specs have TensorFlow 1.15's members, and programs can make classes of their own."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _shown(specs: Any) -> list[str]:
    specs = specs if isinstance(specs, list | tuple) else [specs]
    return [f"{spec.shape} {spec.dtype.name}" for spec in specs]


SPECS: list[tuple[Any, list[str], list[str]]] = [
    (tf.TensorSpec([2], tf.int32, "x"), ["(2,) int32"], ["(2,) int32"]),
    (
        tf.SparseTensorSpec([2, None], tf.int32),
        ["(?, 2) int64", "(?,) int32", "(2,) int64"],
        ["<unknown> variant"],
    ),
    (
        tf.IndexedSlicesSpec([4, 3], tf.float32, tf.int32, tf.int64, [2]),
        ["(2, 3) float32", "(2,) int32", "(2,) int64"],
        ["(2, 3) float32", "(2,) int32", "(2,) int64"],
    ),
    (
        tf.RaggedTensorSpec([2, None, None, 4], tf.int32, 2),
        ["(?, 4) int32", "(3,) int64", "(?,) int64"],
        ["<unknown> variant"],
    ),
    (tf.TensorArraySpec([2]), ["() variant"], ["() variant"]),
    (tf.data.DatasetSpec(tf.TensorSpec([])), ["() variant"], ["() variant"]),
    (tf.OptionalSpec(tf.TensorSpec([])), ["() variant"], ["() variant"]),
]


@pytest.mark.parametrize(("spec", "components", "flat"), SPECS)
def test_members(spec: Any, components: list[str], flat: list[str]) -> None:
    assert _shown(spec._component_specs) == components
    assert _shown(spec._flat_tensor_specs) == flat
    twin = spec._deserialize(spec._serialize())
    assert twin == spec
    assert twin.is_compatible_with(spec)
    assert twin.most_specific_compatible_type(spec) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_components_make_the_value() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        values = [
            tf.constant([1.0]),
            tf.SparseTensor([[0, 1]], [5], [2, 2]),
            tf.ragged.constant([[1], [2, 3]]),
            tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1])),
        ]
        for value in values:
            spec = _spec(value)
            again = spec._from_components(spec._to_components(value))
            listed = spec._from_tensor_list(spec._to_tensor_list(value))
            expected, *others = session.run([value, again, listed])
            assert [repr(other) for other in others] == [repr(expected)] * 2
        with pytest.raises(ValueError, match="wrong number of tensors"):
            _spec(values[0])._from_tensor_list([])
        with pytest.raises(ValueError, match="incompatible"):
            _spec(values[0])._from_tensor_list([tf.constant(1)])


def _spec(value: Any) -> Any:
    from tensorloom.data.specs import spec_of_value

    return spec_of_value(value)


def test_arrays_make_values_of_arrays() -> None:
    sparse = tf.SparseTensorSpec([2, 2], tf.int32)
    parts = [np.array([[0, 1]]), np.array([5], np.int32), np.array([2, 2])]
    assert isinstance(sparse._from_components(parts), tf.SparseTensorValue)
    ragged = tf.RaggedTensorSpec([2, None], tf.int32)
    found = ragged._from_components([np.array([1, 2]), np.array([0, 1, 2])])
    assert found.to_list() == [[1], [2]]
    batched = sparse._batch(3)
    assert batched.shape.as_list() == [3, 2, 2]
    assert batched._unbatch() == sparse


def test_specs_of_programs() -> None:
    class Pair:
        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

    class PairSpec(tf.TypeSpec):
        value_type = Pair

        def __init__(self, a: Any, b: Any) -> None:
            self._a, self._b = a, b

        def _serialize(self) -> Any:
            return self._a, self._b

        @property
        def _component_specs(self) -> Any:
            return {"a": self._a, "b": self._b}

        def _to_components(self, value: Any) -> Any:
            return {"a": value.a, "b": value.b}

        def _from_components(self, components: Any) -> Any:
            return Pair(components["a"], components["b"])

    spec = PairSpec(tf.TensorSpec([None]), tf.TensorSpec([], tf.int32))
    assert spec.is_compatible_with(
        PairSpec(tf.TensorSpec([2]), tf.TensorSpec([], tf.int32))
    )
    assert not spec.is_compatible_with(PairSpec(tf.TensorSpec([2]), tf.TensorSpec([])))
    wider = spec.most_specific_compatible_type(
        PairSpec(tf.TensorSpec([2]), tf.TensorSpec(None, tf.int32))
    )
    assert wider._b.shape.ndims is None
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = spec._to_tensor_list(Pair(tf.constant([1.0]), tf.constant(2)))
        pair = spec._from_tensor_list(tensors)
        assert session.run([pair.a, pair.b]) == [[1.0], 2]
    assert len(spec._flat_tensor_specs) == 2


def _composite_tensors() -> dict[str, Any]:
    rows = tf.placeholder(tf.float32, [None, 3])
    places = tf.placeholder(tf.int64, [None])
    return {
        "SparseTensorSpec(TensorShape([Dimension(2), Dimension(3)]), tf.float32)": (
            tf.sparse_placeholder(tf.float32, [2, 3])
        ),
        "SparseTensorSpec(TensorShape(None), tf.int32)": tf.sparse_placeholder(
            tf.int32
        ),
        "IndexedSlicesSpec(TensorShape([Dimension(None), Dimension(3)]), tf.float32, "
        "tf.int64, None, TensorShape([Dimension(None)]))": (
            tf.IndexedSlices(rows, places)
        ),
        "IndexedSlicesSpec(TensorShape([Dimension(4), Dimension(3)]), tf.float32, "
        "tf.int64, tf.int32, TensorShape([Dimension(None)]))": tf.IndexedSlices(
            rows, places, tf.constant([4, 3])
        ),
        "RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.int32, 1, "
        "tf.int64)": tf.ragged.constant([[1, 2], [3]]),
        "RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None), Dimension(3)]), "
        "tf.float32, 1, tf.int32)": tf.RaggedTensor.from_row_splits(
            rows, tf.constant([0, 1, 3], tf.int32)
        ),
    }


def test_composite_tensors_have_their_spec() -> None:
    for shown, value in _composite_tensors().items():
        spec = value._type_spec
        assert repr(spec) == shown
        twin = spec._from_components(spec._to_components(value))
        assert type(twin) is type(value)
        assert twin._type_spec == spec
        assert isinstance(spec, tf.TypeSpec)


def test_a_class_of_a_program_has_the_spec_of_its_base_or_none() -> None:
    class Rows(tf.IndexedSlices):
        """A program's own."""

    class Bare(tf.SparseTensor.__mro__[1]):  # type: ignore[misc]
        """Without a spec."""

    rows = Rows(tf.zeros([2, 3]), tf.constant([0, 1]))
    assert rows._type_spec.value_type is tf.IndexedSlices
    assert not hasattr(Bare(), "_type_spec")


def test_a_name_says_nothing_of_the_values() -> None:
    named = tf.TensorSpec([None, 3], tf.float32, "x")
    with tf.Graph().as_default():
        assert named.is_compatible_with(tf.placeholder(tf.float32, [2, 3], name="y"))
        assert not named.is_compatible_with(tf.zeros([2, 4]))
        assert not named.is_compatible_with(tf.zeros([2, 3], tf.float64))
        assert not named.is_compatible_with(tf.sparse_placeholder(tf.float32))
    assert named.is_compatible_with(tf.TensorSpec([1, 3], tf.float32, "z"))
    assert not tf.TensorSpec([], tf.int32).is_compatible_with(3)
