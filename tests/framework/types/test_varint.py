"""Numbers of seven bits to a byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.framework.types.varint import VarintError, decode_varint, encode_varint

# As the protobuf library writes them.
WRITTEN = [
    (0, b"\0"),
    (127, b"\x7f"),
    (128, b"\x80\x01"),
    (300, b"\xac\x02"),
    (2**64 - 1, b"\xff" * 9 + b"\x01"),
    (-1, b"\xff" * 9 + b"\x01"),
    (-(2**63), b"\x80" * 9 + b"\x01"),
]


@pytest.mark.parametrize(("number", "data"), WRITTEN)
def test_is_as_protobuf_writes_it(number: int, data: bytes) -> None:
    assert encode_varint(number) == data
    assert decode_varint(data, 0) == (number % 2**64, len(data))


@given(st.integers(0, 2**64 - 1))
def test_comes_back(number: int) -> None:
    data = encode_varint(number)
    assert decode_varint(b"x" + data + b"y", 1) == (number, len(data) + 1)
    with pytest.raises(VarintError, match="the bytes end"):
        decode_varint(data[:-1], 0)


def test_bits_above_the_64th_are_dropped() -> None:
    assert decode_varint(b"\x81" * 9 + b"\x7e", 0)[0] == 0x0102040810204081


def test_an_endless_number() -> None:
    with pytest.raises(VarintError, match="ten bytes"):
        decode_varint(b"\xff" * 11, 0)


@pytest.mark.parametrize("caught", [IndexError, ValueError])
def test_the_error_is_what_readers_catch(caught: type[Exception]) -> None:
    with pytest.raises(caught):
        decode_varint(b"", 0)
