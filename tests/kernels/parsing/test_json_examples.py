"""Examples in JSON become the bytes that TensorFlow 1.15 writes."""

from __future__ import annotations

import pytest

import tensorloom as tf
from tensorloom.kernels.host.parsing.json_examples import Unusual, serialized
from tensorloom.protos import example_pb2


def _with(feature: str) -> bytes:
    return b'{"features": {"feature": {%s}}}' % feature.encode()


# Recorded from TensorFlow 1.15.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"{}", b""),
        (b'{"features": null}', b""),
        (b'{"features": {}}', b"\n\x00"),
        (b'{"features": {"feature": null}}', b"\n\x00"),
        (_with('"a": null'), b"\n\x05\n\x03\n\x01a"),
        (_with('"a": {}'), b"\n\x07\n\x05\n\x01a\x12\x00"),
        (_with('"a": {"floatList": null}'), b"\n\x07\n\x05\n\x01a\x12\x00"),
        (_with('"a": {"floatList": {}}'), b"\n\t\n\x07\n\x01a\x12\x02\x12\x00"),
        (
            _with('"a": {"floatList": {"value": null}}'),
            b"\n\t\n\x07\n\x01a\x12\x02\x12\x00",
        ),
        (
            _with('"a": {"int64_list": {"value": [1]}}'),
            b"\n\x0b\n\t\n\x01a\x12\x04\x1a\x02\x08\x01",
        ),
        (
            _with('"a": {"floatList": {"value": [1, "2.5", "NaN", "Infinity", 0.1]}}'),
            b'\n"\n \n\x01a\x12\x1b\x12\x19\r\x00\x00\x80?\r\x00\x00 @'
            b"\r\x00\x00\xc0\x7f\r\x00\x00\x80\x7f\r\xcd\xcc\xcc=",
        ),
        (
            _with('"a": {"bytesList": {"value": ["YW-_", "YQ", "YQ==", "a+/b", ""]}}'),
            b"\n\x1b\n\x19\n\x01a\x12\x14\n\x12\n\x03ao\xbf\n\x01a\n\x01a"
            b"\n\x03k\xef\xdb\n\x00",
        ),
        (
            _with('"b": {"int64List": {"value": [1]}}, "a": {"int64List": {}}'),
            b"\n\x14\n\t\n\x01b\x12\x04\x1a\x02\x08\x01\n\x07\n\x01a\x12\x02\x1a\x00",
        ),
        (
            _with('"\\u00e9é": {"int64List": {"value": [-1, "-9223372036854775808"]}}'),
            b'\n"\n \n\x04\xc3\xa9\xc3\xa9\x12\x18\x1a\x16\x08'
            + b"\xff" * 9
            + b"\x01\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
        ),
    ],
)
def test_bytes(text: bytes, expected: bytes) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.io.decode_json_example(text)) == expected
    assert serialized(text) == expected


def test_long_features() -> None:
    numbers = [*range(-300, 300), 2**40, 2**63 - 1, -(2**63)]
    found = example_pb2.Example.FromString(
        serialized(_with(f'"{"a" * 200}": {{"int64List": {{"value": {numbers}}}}}'))
    )
    assert list(found.features.feature["a" * 200].int64_list.value) == numbers


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"5",
        b'{"x": 1}',
        b'{"features": []}',
        b'{"features": {"feature": []}}',
        _with('"a": []'),
        _with('"a": {"x": {}}'),
        _with('"a": {"int64List": {}, "floatList": {}}'),
        _with('"a": {"int64List": {"value": {}}}'),
        _with('"a": {"int64List": {"value": [1.5]}}'),
        _with('"a": {"int64List": {"value": [true]}}'),
        _with('"a": {"int64List": {"value": [9223372036854775808]}}'),
        _with('"a": {"int64List": {"value": [" 1"]}}'),
        _with('"a": {"floatList": {"value": [NaN]}}'),
        _with('"a": {"floatList": {"value": [1e40]}}'),
        _with('"a": {"floatList": {"value": [1e999]}}'),
        _with('"a": {"floatList": {"value": ["-1e999"]}}'),
        _with('"a": {"floatList": {"value": ["x"]}}'),
        _with('"a": {"bytesList": {"value": [5]}}'),
        _with('"a": {"bytesList": {"value": ["%%"]}}'),
        _with('"a": {}, "a": {}'),
        _with('"\\ud800": {}'),
        b'{"features": {"feature": {"\xff": {}}}}',
        b"{} x",
    ],
)
def test_what_needs_a_closer_look(text: bytes) -> None:
    with pytest.raises(Unusual):
        serialized(text)
