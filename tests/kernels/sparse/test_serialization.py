"""Serialized sparse tensors: read together where they look alike, else one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.sparse import serialization as ops


def _run(build: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def _tensor(kind: str) -> tuple[Any, Any, Any]:
    random = np.random.RandomState(0)
    indices = np.argwhere(random.rand(30, 4, 3) < 0.1)
    numbers = random.randint(0, 100, len(indices))
    if kind == "string":
        values: Any = np.array([b"%d" % n for n in numbers], object)
    else:
        values = numbers.astype(kind)
    return indices, values, np.int64([30, 4, 3])


@pytest.mark.parametrize("kind", ["float32", "int64", "bool", "complex64", "string"])
def test_there_and_back(kind: str) -> None:
    indices, values, shape = _tensor(kind)
    texts = _run(
        lambda: tf.io.serialize_many_sparse(tf.SparseTensor(indices, values, shape))
    )
    # Each row as if it were alone.
    for row, (places, elements, rest) in enumerate(ops._rows(indices, values, shape)):
        parts = zip((places, elements, rest), ("int64", kind, "int64"), strict=True)
        alone = [ops._encode(part, dtypes.as_dtype(name)) for part, name in parts]
        assert texts[row].tolist() == alone
    found = _run(lambda: tf.io.deserialize_many_sparse(texts, tf.as_dtype(kind)))
    assert found.indices.tolist() == indices.tolist()
    assert found.values.tolist() == values.tolist()
    assert found.dense_shape.tolist() == shape.tolist()


def _protos(array: Any) -> bytes:
    """As nobody here writes it: the values are not bytes."""
    from tensorloom.protos import tensor_pb2

    proto = tensor_pb2.TensorProto(dtype=tf.int64.as_datatype_enum)
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    proto.int64_val.extend(array.reshape(-1).tolist())
    return proto.SerializeToString()  # type: ignore[no-any-return]


@pytest.mark.parametrize("odd", range(6))
def test_one_that_is_written_in_another_way(odd: int) -> None:
    indices, values, shape = _tensor("int64")
    texts = []
    for i, parts in enumerate(ops._rows(indices, values, shape)[:2]):
        for j, part in enumerate(parts):
            encode = _protos if odd == 3 * i + j else ops._encode
            texts.append(encode(part, *([] if encode is _protos else [dtypes.int64])))
    rows = np.array(texts, object).reshape(2, 3)
    found = _run(lambda: tf.io.deserialize_many_sparse(rows, tf.int64))
    first = indices[indices[:, 0] < 2]
    assert found.indices.tolist() == first.tolist()
    assert found.values.tolist() == values[: len(first)].tolist()


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("text", [b"", b"\x08", b"\x08\x09\x12\x00", b"nothing"])
def test_one_that_is_no_tensor(place: int, text: bytes) -> None:
    parts = ops._rows(*_tensor("int64"))[0]
    row = [ops._encode(part, dtypes.int64) for part in parts]
    bad = list(row)
    bad[place] = text
    rows = np.array([row, bad], object)
    with pytest.raises(tf.errors.InvalidArgumentError):
        _run(lambda: tf.io.deserialize_many_sparse(rows, tf.int64))


def test_shapes_grow_to_the_largest() -> None:
    def row(count: int, size: int) -> list[bytes]:
        places = np.arange(count, dtype=np.int64).reshape(-1, 1)
        parts = places, places[:, 0], np.int64([size])
        return [ops._encode(part, dtypes.int64) for part in parts]

    rows = np.array([row(2, 5), row(0, 9), row(1, 3)], object)
    found = _run(lambda: tf.io.deserialize_many_sparse(rows, tf.int64))
    assert found.dense_shape.tolist() == [3, 9]
    assert found.indices.tolist() == [[0, 0], [0, 1], [2, 0]]
