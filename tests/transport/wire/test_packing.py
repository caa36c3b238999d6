"""Values as bytes: round trips, and bytes that are none."""

from __future__ import annotations

import contextlib
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tensorloom.framework import errors
from tensorloom.transport.wire import packing


def unpacked(values: list[Any]) -> list[Any]:
    buffers, size = packing.pack(values)
    content = b"".join(map(bytes, buffers))
    assert len(content) == size
    return packing.unpack(np.frombuffer(content, np.uint8))


DTYPES = [np.float32, np.float64, np.int8, np.uint16, np.int64, np.bool_, np.complex64]


@given(
    st.lists(
        st.sampled_from(DTYPES).flatmap(
            lambda dtype: hnp.arrays(
                dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
            )
        ),
        max_size=4,
    )
)
def test_numbers_come_back(arrays: list[Any]) -> None:
    for before, after in zip(arrays, unpacked(arrays), strict=True):
        assert after.dtype == before.dtype
        assert np.shape(after) == before.shape
        np.testing.assert_array_equal(after, before)


@given(
    st.lists(st.binary(max_size=20), min_size=1, max_size=6),
    st.sampled_from([(-1,), (1, -1), (-1, 1, 1)]),
)
def test_strings_come_back(items: list[bytes], shape: tuple[int, ...]) -> None:
    array = np.empty(len(items), object)
    array[:] = items
    array = array.reshape(shape)
    (after,) = unpacked([array])
    assert after.dtype == object
    assert after.tolist() == array.tolist()


def test_scalars() -> None:
    text, number, narrow = unpacked([b"text", np.float32(2.5), ml_dtypes.bfloat16(3)])
    assert text.shape == ()
    assert text[()] == b"text"
    assert number == np.float32(2.5)
    assert number.dtype == np.float32
    assert narrow.dtype == ml_dtypes.bfloat16


def test_data_are_aligned() -> None:
    buffers, _ = packing.pack([np.ones(3, np.int8), np.ones(5), np.ones([2, 2])])
    content = np.frombuffer(b"".join(map(bytes, buffers)), np.uint8)
    start = content.__array_interface__["data"][0]
    for array in packing.unpack(content):
        assert (array.__array_interface__["data"][0] - start) % 64 == 0


@given(st.binary(max_size=200))
def test_any_bytes_give_values_or_a_clean_error(content: bytes) -> None:
    with contextlib.suppress(errors.InvalidArgumentError):
        packing.unpack(np.frombuffer(content, np.uint8))


@given(st.integers(0, 10**6), st.integers(0, 255))
def test_changed_bytes_give_values_or_a_clean_error(place: int, byte: int) -> None:
    text = np.array([b"a", b"longer"], object)
    buffers, size = packing.pack([np.ones([2, 3]), text, np.int32(4)])
    content = bytearray(b"".join(map(bytes, buffers)))
    content[place % size] = byte
    with contextlib.suppress(errors.InvalidArgumentError):
        packing.unpack(np.frombuffer(bytes(content), np.uint8))


def test_python_objects_are_refused() -> None:
    with pytest.raises(errors.UnimplementedError, match="cannot be sent"):
        packing.pack([object()])
