"""Tensors from their messages: what is refused, as TensorFlow 1.15 refuses it."""

from __future__ import annotations

import pytest

import tensorloom as tf

FLOAT = tf.make_tensor_proto([1.5, 2.5]).SerializeToString()


@pytest.mark.parametrize(
    ("serialized", "dtype", "message"),
    [
        (b"", tf.float32, "Cannot parse tensor from proto"),
        (b"\x08\x63", tf.float32, "Cannot parse tensor from proto"),
        (b"\xff", tf.float32, "Could not parse `serialized` as TensorProto: '"),
        (FLOAT, tf.int32, r"Type mismatch between parsed tensor \(float"),
    ],
)
def test_what_is_no_such_tensor(
    serialized: bytes, dtype: tf.DType, message: str
) -> None:
    parsed = tf.io.parse_tensor(serialized, dtype)
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        sess.run(parsed)


def test_a_tensor() -> None:
    with tf.Session() as sess:
        assert sess.run(tf.io.parse_tensor(FLOAT, tf.float32)).tolist() == [1.5, 2.5]
