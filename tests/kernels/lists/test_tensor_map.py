"""Maps of tensors as TensorFlow 2.21 has them (recorded), and across tasks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.types import dtypes, variant_codec
from tensorloom.kernels.torch.lists.tensor_map import Entry, TensorMap

ops = tf.raw_ops


def _map(*pairs: tuple[Any, Any]) -> Any:
    held = ops.EmptyTensorMap()
    for key, value in pairs:
        held = ops.TensorMapInsert(input_handle=held, key=key, value=value)
    return held


def _find(held: Any, key: Any, dtype: Any = tf.float32) -> Any:
    return ops.TensorMapLookup(input_handle=held, key=key, value_dtype=dtype)


def _has(held: Any, key: Any) -> Any:
    return ops.TensorMapHasKey(input_handle=held, key=key)


def _size(held: Any) -> Any:
    return ops.TensorMapSize(input_handle=held)


def _erased(held: Any, key: Any, dtype: Any = tf.float32) -> Any:
    return ops.TensorMapErase(input_handle=held, key=key, value_dtype=dtype)


def _in_a_loop() -> Any:
    def body(i: Any, held: Any) -> Any:
        value = tf.cast(i, tf.float32)
        return i + 1, ops.TensorMapInsert(input_handle=held, key=i, value=value)

    _, held = tf.while_loop(lambda i, _: i < 5, body, [0, ops.EmptyTensorMap()])
    return [_size(held), _find(held, 3)]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: _size(_map((1, 2.0), (2, 3.0), (1, 5.0))), 2),
        (lambda: _find(_map((1, 2.0), (2, 3.0), (1, 5.0)), 1), 5.0),
        (lambda: _find(_map(("k", [1, 2])), "k", tf.int32), [1, 2]),
        (lambda: _find(_map(("k", "v")), "k", tf.string), b"v"),
        (lambda: [_has(_map((1, 2.0)), key) for key in (1, 2, 1.0)], [1, 0, 0]),
        (lambda: _has(_map((1, 2.0)), np.int64(1)), False),
        (lambda: _has(_map(([1], 2.0)), 1), False),
        # Keys are compared by their bytes.
        (lambda: _has(_map((math.nan, 2.0)), math.nan), True),
        (lambda: _has(_map((0.0, 2.0)), -0.0), False),
        (lambda: _size(_erased(_map((1, 2.0), (2, 3.0)), 1)), 1),
        (lambda: _size(_erased(_map((1, 2.0)), 1, tf.int32)), 0),
        (lambda: _size(tf.zeros_like(_map((1, 2.0)))), 0),
        (lambda: _find(tf.add_n([_map((1, 2.0)), _map((1, 3.0), (2, 4.0))]), 1), 5.0),
        (lambda: _size(tf.add_n([_map((1, 2.0)), _map((1, 3.0), (2, 4.0))])), 2),
        (lambda: _find(_find(_map(("in", _map((1, 2.0)))), "in", tf.variant), 1), 2.0),
        (_in_a_loop, [5, 3.0]),
    ],
)
def test_maps(build: Any, expected: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(build())
        assert np.asarray(found).tolist() == expected


@pytest.mark.parametrize(
    ("build", "kind"),
    [
        (lambda: _find(_map((1, 2.0)), 3), "InvalidArgument"),
        (lambda: _find(_map((1, 2.0)), 1, tf.int32), "Internal"),
        (lambda: _erased(_map((1, 2.0)), 3).op, "InvalidArgument"),
        (lambda: _keys(_map()), "InvalidArgument"),
        (lambda: _keys(_map((1.5, 2.0))), "InvalidArgument"),
        (lambda: _keys(_map(([1], 2.0), ([1, 2], 2.0))), "InvalidArgument"),
        (lambda: _size(_a_list()), "InvalidArgument"),
    ],
)
def test_refused(build: Any, kind: str) -> None:
    refused = pytest.raises(getattr(tf.errors, f"{kind}Error"))
    with tf.Graph().as_default(), tf.Session() as session, refused:
        session.run(build())


def _keys(held: Any) -> Any:
    return ops.TensorMapStackKeys(input_handle=held, key_dtype=tf.int32)


def _a_list() -> Any:
    shape = tf.constant([], tf.int32)
    return ops.EmptyTensorList(
        element_shape=shape, max_num_elements=1, element_dtype=tf.int32
    )


def test_keys() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(_keys(_map(([1, 2], 2.0), ([2, 3], "x")))).tolist() == [
            [1, 2],
            [2, 3],
        ]


def test_earlier_maps_stay_as_they_were() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one = _map((1, 2.0))
        two = ops.TensorMapInsert(input_handle=one, key=1, value=3.0)
        none = _erased(one, 1)
        found = [_find(one, 1), _find(two, 1), _size(none), _size(one)]
        assert session.run(found) == [2.0, 3.0, 0, 1]


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(np.int32(1), "int32", np.float32(2), "float32")],
        [
            (np.array(b"k", object), "string", np.arange(4, dtype=np.int64), "int64"),
            (np.float32([1, 2]), "float32", np.array(b"v", object), "string"),
        ],
    ],
)
def test_across_tasks(pairs: list[Any]) -> None:
    held = TensorMap()
    for key, key_type, value, value_type in pairs:
        types = dtypes.as_dtype(key_type), dtypes.as_dtype(value_type)
        held = held.insert(Entry(key, types[0], value, types[1]))
    codec = variant_codec.codec_of(held)
    assert codec is not None
    assert codec.type_name == "tensorflow::TensorMap"
    metadata, tensors = codec.encode(held)
    again = codec.decode(metadata, tensors)
    assert again.entries.keys() == held.entries.keys()
    for key, entry in held.entries.items():
        assert again.entries[key].value_dtype == entry.value_dtype
        assert np.array_equal(again.entries[key].value, entry.value)
    with pytest.raises(ValueError, match="keys and values"):
        codec.decode(b"", [np.int32(1)])
