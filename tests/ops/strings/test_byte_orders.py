"""Encodings of two and four bytes: the byte order, and its mark."""

from __future__ import annotations

import pytest

import tensorloom as tf


@pytest.mark.parametrize(
    ("text", "encoding", "decoded"),
    [
        (b"\x00*", "UTF-16", b"*"),
        (b"*\x00", "utf16", b"\xe2\xa8\x80"),
        (b"\xfe\xff\x00*", "UTF-16", b"*"),
        (b"\xff\xfe*\x00", "UTF-16", b"*"),
        (b"*\x00", "UTF-16LE", b"*"),
        (b"\x00\x00\x00*", "UTF-32", b"*"),
        (b"\xff\xfe\x00\x00*\x00\x00\x00", "UTF-32", b"*"),
    ],
)
def test_the_larger_byte_is_first_where_nothing_says_the_order(
    text: bytes, encoding: str, decoded: bytes
) -> None:
    found = tf.strings.unicode_transcode(text, encoding, "UTF-8")
    codes = tf.strings.unicode_decode(text, encoding)
    with tf.Session() as sess:
        assert sess.run(found) == decoded
        assert sess.run(codes).tolist() == [ord(decoded.decode())]
