"""Checkpoints: what is saved is restored, TensorFlow's bytes, and damage is seen."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import tensorloom as tf

if TYPE_CHECKING:
    from pathlib import Path

# A checkpoint that TensorFlow 1.15 wrote of VALUES.
INDEX = base64.b64decode(
    "AAAGCAEaAggBAAMTYS9iCAESCBICCAISAggDKBg1wNs9FwIBEmMIBxIEEgIIAyAYKLYCNT/3iNUA"
    "AhJiZggOEgQSAggCIM4CKAQ1ud1s4wAAAAABAAAAAH8tJnkAAAAAAQAAAADA8qGwAAECYwBXAAAA"
    "AAEAAAAADwu+XlwIaQ4AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABX+4CLJHVH"
    "2w=="
)
DATA = base64.b64decode(
    "AAAAAAAAgD8AAABAAABAQAAAgEAAAKBAAgCsAttXPjZ4eHl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5"
    "eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5"
    "eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5"
    "eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5"
    "eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5"
    "eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eXl5eYA/IEA="
)
META = INDEX[-48]  # where the metaindex block begins, as a varint of one byte
VALUES: dict[str, Any] = {
    "a/b": np.arange(6, dtype=np.float32).reshape(2, 3),
    "a/c": np.array([b"xx", b"", b"y" * 300], object),
    "bf": np.array([1.0, 2.5], ml_dtypes.bfloat16),
}
MATRIX = np.arange(400, dtype=np.float32).reshape(200, 2)


def save(prefix: str, rows: list[tuple[str, str, Any]]) -> None:
    names, specs, values = zip(*rows, strict=True)
    with tf.Graph().as_default(), tf.Session() as sess:
        tensors = [tf.constant(x) for x in values]
        sess.run(
            tf.raw_ops.SaveV2(
                prefix=prefix,
                tensor_names=list(names),
                shape_and_slices=list(specs),
                tensors=tensors,
            )
        )


def restore(prefix: str, name: str, dtype: Any, spec: str = "") -> Any:
    with tf.Graph().as_default(), tf.Session() as sess:
        result = tf.raw_ops.RestoreV2(
            prefix=prefix, tensor_names=[name], shape_and_slices=[spec], dtypes=[dtype]
        )
        return sess.run(result)[0]


def merge(prefixes: list[str], destination: str, delete: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(
            tf.raw_ops.MergeV2Checkpoints(
                checkpoint_prefixes=prefixes,
                destination_prefix=destination,
                delete_old_dirs=delete,
            )
        )


@pytest.fixture
def reference(tmp_path: Path) -> str:
    (tmp_path / "ref.index").write_bytes(INDEX)
    (tmp_path / "ref.data-00000-of-00001").write_bytes(DATA)
    return str(tmp_path / "ref")


@pytest.mark.parametrize("name", VALUES)
def test_reads_tensorflows(reference: str, name: str) -> None:
    dtype = tf.as_dtype("string" if name == "a/c" else VALUES[name].dtype)
    np.testing.assert_array_equal(restore(reference, name, dtype), VALUES[name])


def test_writes_tensorflows_bytes(tmp_path: Path) -> None:
    save(str(tmp_path / "x"), [(name, "", value) for name, value in VALUES.items()])
    assert (tmp_path / "x.index").read_bytes() == INDEX
    assert (tmp_path / "x.data-00000-of-00001").read_bytes() == DATA
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    "dtype",
    [
        "float16",
        "float32",
        "float64",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "bool",
        "complex64",
        "complex128",
    ],
)
def test_round_trip(tmp_path: Path, dtype: str) -> None:
    values = [np.array([[0, 1, 3]], dtype), np.array(1, dtype), np.zeros((0, 2), dtype)]
    prefix = str(tmp_path / "x")
    save(prefix, [(str(i), "", value) for i, value in enumerate(values)])
    for i, value in enumerate(values):
        result = restore(prefix, str(i), tf.as_dtype(dtype))
        np.testing.assert_array_equal(result, value)
        assert result.shape == value.shape
        assert result.dtype == value.dtype


def test_many_keys(tmp_path: Path) -> None:
    prefix = str(tmp_path / "x")
    save(prefix, [(f"{i:0500d}", "", np.int32(i)) for i in range(40)])
    assert restore(prefix, f"{33:0500d}", tf.int32) == 33


def test_slices(tmp_path: Path) -> None:
    prefix = str(tmp_path / "x")
    rows = [("p", "200 2 0,100:-", MATRIX[:100]), ("q", "", MATRIX)]
    save(prefix, [*rows, ("p", "200 2 100,100:0,2", MATRIX[100:])])
    np.testing.assert_array_equal(restore(prefix, "p", tf.float32), MATRIX)
    for name in "pq":
        part = restore(prefix, name, tf.float32, "200 2 90,20:1,1")
        np.testing.assert_array_equal(part, MATRIX[90:110, 1:])
    save(prefix, rows)
    with pytest.raises(tf.errors.InvalidArgumentError, match="sufficient slices"):
        restore(prefix, "p", tf.float32)


@pytest.mark.parametrize("delete", [False, True])
def test_merge(tmp_path: Path, delete: bool) -> None:
    one, two = str(tmp_path / "t/one"), str(tmp_path / "t/two")
    save(one, [("p", "200 2 0,100:-", MATRIX[:100])])
    save(two, [("p", "200 2 100,100:-", MATRIX[100:]), ("a", "", np.int32(4))])
    merge([one, two], str(tmp_path / "all"), delete)
    np.testing.assert_array_equal(
        restore(str(tmp_path / "all"), "p", tf.float32), MATRIX
    )
    assert restore(str(tmp_path / "all"), "a", tf.int32) == 4
    assert (tmp_path / "t").exists() != delete
    assert (tmp_path / "all.data-00001-of-00002").exists()


def test_refusals(reference: str) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="Key no not found in checkpoint"):
        restore(reference, "no", tf.float32)
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching"):
        restore(reference + "x", "a/b", tf.float32)
    message = "tensor_name = a/b; expected dtype double does not equal original dtype"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        restore(reference, "a/b", tf.float64)


@pytest.mark.parametrize("at", range(0, len(INDEX), 20))
def test_damaged_index(reference: str, tmp_path: Path, at: int) -> None:
    if at < META or at >= META + 13:  # nothing reads the empty metaindex block
        data = bytearray(INDEX)
        data[at] ^= 0x41
        if at >= len(INDEX) - 48:
            data[-1] ^= 0x41
        (tmp_path / "ref.index").write_bytes(data)
        with pytest.raises(tf.errors.DataLossError):
            restore(reference, "a/b", tf.float32)
    (tmp_path / "ref.index").write_bytes(INDEX[:at])
    with pytest.raises(tf.errors.DataLossError):
        restore(reference, "a/b", tf.float32)


@pytest.mark.parametrize(("name", "at"), [("a/b", 3), ("a/c", 24), ("a/c", 40)])
def test_damaged_data(reference: str, tmp_path: Path, name: str, at: int) -> None:
    dtype = tf.string if name == "a/c" else tf.float32
    data = bytearray(DATA)
    data[at] ^= 1
    for damaged in (bytes(data), DATA[:at]):
        (tmp_path / "ref.data-00000-of-00001").write_bytes(damaged)
        with pytest.raises(tf.errors.DataLossError):
            restore(reference, name, dtype)
