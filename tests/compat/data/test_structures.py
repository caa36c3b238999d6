"""What TensorFlow has of structures, options and sparse tensors under module paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tensorloom.python.data.util import (
    convert,
    nest,
    options,
    sparse,
    structure,
    traverse,
)

import tensorloom as tf

_FLOATS = tf.TensorSpec([2], tf.float32)
_INTS = tf.TensorSpec([], tf.int64)
_ANY_FLOATS = tf.TensorSpec([None], tf.float32)
_SPARSE = tf.SparseTensorSpec([3], tf.int32)


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ((_FLOATS, _INTS), (_FLOATS, _INTS), True),
        ({"a": _FLOATS}, {"a": _FLOATS}, True),
        (_FLOATS, _INTS, False),
        (_SPARSE, tf.TensorSpec([3], tf.int32), False),
        ((_FLOATS, _INTS), (_FLOATS, (_INTS,)), False),
        ((_FLOATS, _INTS), {"a": _FLOATS, "b": _INTS}, False),
    ],
)
def test_compatible(first: Any, second: Any, wanted: bool) -> None:
    assert structure.are_compatible(first, second) is wanted


def test_tensors_of_elements() -> None:
    specs = {"x": _FLOATS, "y": _SPARSE}
    rows = tf.SparseTensor([[1]], [7], [3])
    tensors = structure.to_tensor_list(specs, {"x": tf.ones([2]), "y": rows})
    assert [t.dtype for t in tensors] == [tf.float32, tf.variant]
    assert structure.get_flat_tensor_types(specs) == [tf.float32, tf.variant]
    assert structure.get_flat_tensor_shapes(specs)[0].as_list() == [2]
    back = structure.from_tensor_list(specs, tensors)
    with tf.Session() as session:
        values = session.run(back)
    assert values["x"].tolist() == [1, 1]
    assert values["y"].values.tolist() == [7]


def test_wrong_tensors() -> None:
    with pytest.raises(ValueError, match="Expected 2 tensors but got 1"):
        structure.from_tensor_list((_FLOATS, _INTS), [tf.ones([2])])
    with pytest.raises(ValueError, match="Incompatible input"):
        structure.from_tensor_list(_FLOATS, [tf.ones([3])])
    with pytest.raises(ValueError, match="insufficient rank"):
        structure.to_batched_tensor_list(_INTS, tf.constant(1, tf.int64))
    with pytest.raises(ValueError, match="nested structure"):
        structure.to_tensor_list((_FLOATS, _INTS), tf.ones([2]))


def test_spec_of_values() -> None:
    found = structure.type_spec_from_value((1.5, {"a": tf.ones([2])}))
    assert found == (tf.TensorSpec([], tf.float32), {"a": _FLOATS})
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        structure.type_spec_from_value(3, use_fallback=False)


class _Speed(options.OptionsBase):
    threads = options.create_option("threads", int, "how many", lambda: 4)
    name = options.create_option("name", str, "how it is called")


def test_options_of_ones_own() -> None:
    first, second = _Speed(), _Speed()
    assert (first.threads, first.name) == (4, None)
    assert _Speed.threads.__doc__ == "how many"
    first.threads = 2
    second.name = "fast"
    merged = options.merge_options(first, second)
    assert (merged.threads, merged.name) == (2, "fast")
    second.threads = 8
    with pytest.raises(ValueError, match="incompatible values"):
        options.merge_options(first, second)
    with pytest.raises(TypeError, match="must be of type"):
        first.threads = "many"
    with pytest.raises(AttributeError):
        first.colour = 1  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="At least one"):
        options.merge_options()
    with pytest.raises(TypeError):
        options.merge_options(3)


def test_sparse_tensors_as_variants() -> None:
    value = tf.SparseTensor([[0], [2]], [1.0, 2.0], [4])
    classes = sparse.get_classes((value, tf.ones([])))
    assert classes == (tf.SparseTensor, tf.Tensor)
    assert sparse.any_sparse(classes)
    types = sparse.as_dense_types((tf.float32, tf.float32), classes)
    assert types == (tf.variant, tf.float32)
    serialized = sparse.serialize_sparse_tensors((value, tf.ones([])))
    back = sparse.deserialize_sparse_tensors(
        serialized,
        (tf.float32, tf.float32),
        (tf.TensorShape([4]), tf.TensorShape([])),
        classes,
    )
    with tf.Session() as session:
        assert session.run(back[0]).values.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [([2, None], [2, -1]), (tf.TensorShape([]), []), ((3,), [3])],
)
def test_shapes_as_tensors(shape: Any, wanted: list[int]) -> None:
    with tf.Session() as session:
        got = session.run(convert.partial_shape_to_tensor(shape))
    assert got.dtype == np.int64
    assert got.tolist() == wanted


def test_wrong_shape_tensors() -> None:
    with pytest.raises(ValueError, match="must be a 1-D tensor"):
        convert.partial_shape_to_tensor(tf.constant([[1]], tf.int64))
    with pytest.raises(TypeError, match="element type was int32"):
        convert.partial_shape_to_tensor(tf.constant([1], tf.int32))


def test_nodes_of_a_pipeline() -> None:
    dataset = tf.data.Dataset.range(3).map(lambda x: x + 1).repeat(2)
    ops = traverse.obtain_all_variant_tensor_ops(dataset)
    assert [op.type for op in ops] == ["RepeatDataset", "MapDataset", "RangeDataset"]


def test_structures_of_other_types() -> None:
    nest.assert_same_structure(((1, 2), 3), {"a": (1, 2), "b": 3}, check_types=False)
    nest.assert_shallow_structure((1, 2), {"a": (3, 4), "b": 5}, check_types=False)
    with pytest.raises(TypeError, match="same sequence type"):
        nest.assert_same_structure(((1, 2), 3), {"a": (1, 2), "b": 3})
    with pytest.raises(ValueError, match="same keys"):
        nest.assert_shallow_structure({"a": 1}, {"b": 1})
    with pytest.raises(ValueError, match="Only valid keyword"):
        nest.map_structure(abs, 1, deep=True)
    with pytest.raises(TypeError, match="callable"):
        nest.map_structure("abs", 1)
    with pytest.raises(ValueError, match="Structure is a scalar"):
        nest.pack_sequence_as(1, [2, 3])
