"""Variants in tensor bundles."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter
from tensorloom.storage.checkpoints.variants import OpaqueVariant

# By TensorFlow 1.15: l and st[i] are lists of three vectors, e is one of a string.
DATA = Path(__file__).parents[1] / "data" / "variants_1_15"
ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


def stacked(prefix: str) -> tuple[list[np.ndarray], bytes]:
    raw = tf.raw_ops
    with tf.Graph().as_default(), tf.Session() as sess:
        one, text, several = raw.RestoreV2(
            prefix=prefix,
            tensor_names=["l", "e", "st"],
            shape_and_slices=["", "", ""],
            dtypes=[tf.variant] * 3,
        )
        lists = [
            raw.TensorListStack(
                input_handle=handle, element_shape=[2], element_dtype=tf.float32
            )
            for handle in (one, several[0], several[1])
        ]
        item = raw.TensorListGetItem(
            input_handle=text,
            index=0,
            element_shape=tf.constant([], tf.int32),
            element_dtype=tf.string,
        )
        found: list[np.ndarray] = sess.run(lists)
        return found, sess.run(item)


def test_lists_of_tensorflow() -> None:
    lists, text = stacked(str(DATA))
    for found in lists:
        np.testing.assert_array_equal(found, ROWS)
    assert text == b"hi"


def test_round_trip(tmp_path: Path) -> None:
    prefix = str(tmp_path / "ours")
    raw = tf.raw_ops
    with tf.Graph().as_default(), tf.Session() as sess:
        values = raw.RestoreV2(
            prefix=str(DATA),
            tensor_names=["l", "e", "st"],
            shape_and_slices=["", "", ""],
            dtypes=[tf.variant] * 3,
        )
        sess.run(
            raw.SaveV2(
                prefix=prefix,
                tensor_names=["l", "e", "st"],
                shape_and_slices=["", "", ""],
                tensors=values,
            )
        )
    lists, text = stacked(prefix)
    for found in lists:
        np.testing.assert_array_equal(found, ROWS)
    assert text == b"hi"


def test_unknown_types_stay_as_they_are(tmp_path: Path) -> None:
    value = np.empty(2, object)
    value[:] = [OpaqueVariant("a::B", b"\x0a\x04a::B\x12\x01x")] * 2
    prefix = str(tmp_path / "x")
    with BundleWriter(prefix) as writer:
        writer.add(b"v", tf.variant, value)
        writer.finish()
    with BundleReader(prefix) as reader:
        assert reader.read(b"v").tolist() == value.tolist()
    with pytest.raises(errors.InternalError, match="not convertible to numpy"):
        tf.train.NewCheckpointReader(prefix).get_tensor("v")


@pytest.mark.parametrize("at", [0, 5, 60, 103, 105, 200, 360])
def test_damage(tmp_path: Path, at: int) -> None:
    for suffix in (".index", ".data-00000-of-00001"):
        shutil.copy(f"{DATA}{suffix}", f"{tmp_path}/v{suffix}")
    path = tmp_path / "v.data-00000-of-00001"
    contents = bytearray(path.read_bytes())
    contents[at] ^= 0x41
    path.write_bytes(contents)
    with (
        BundleReader(str(tmp_path / "v")) as reader,
        pytest.raises(errors.DataLossError, match="data-00000"),
    ):
        _ = [reader.read(name) for name in reader.names]


def test_no_message(tmp_path: Path) -> None:
    with (
        BundleWriter(str(tmp_path / "x")) as writer,
        pytest.raises(errors.UnimplementedError, match="cannot be saved"),
    ):
        writer.add(b"v", tf.variant, {"a": 1})
