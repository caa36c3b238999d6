"""TensorProto in every packing, as recorded from TensorFlow 1.15, and hostile ones."""

from __future__ import annotations

import contextlib
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.array_conversion import to_ndarray
from tensorloom.framework.types.dtypes import DType
from tensorloom.framework.types.tensor_proto import (
    decode_tensor,
    encode_tensor,
    make_ndarray,
    make_tensor_proto,
)
from tensorloom.protos.resource_handle_pb2 import ResourceHandleProto
from tensorloom.protos.tensor_pb2 import TensorProto
from tests.framework import recorded
from tests.framework.types.test_array_conversion import NAMES


def _proto(*args: Any, **kwargs: Any) -> Any:
    return recorded.describe_message(make_tensor_proto(*args, **kwargs))


@pytest.mark.parametrize(("expression", "expected"), recorded.read("tensor_proto"))
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_bytes_are_as_recorded(expression: str, expected: str) -> None:
    assert recorded.outcome(expression, {**NAMES, "proto": _proto}) == expected


def test_a_message_is_returned_as_it_is() -> None:
    proto = make_tensor_proto([1, 2])
    assert make_tensor_proto(proto, dtype=dtypes.float32) is proto


def _read(text: str) -> TensorProto:
    proto = TensorProto()
    text_format.Parse(text, proto)
    return proto


def _shape(*sizes: int) -> str:
    return f"tensor_shape {{ {' '.join(f'dim {{ size: {s} }}' for s in sizes)} }}"


# Message, what TensorFlow 1.15 makes of it in make_ndarray or in a Const.
READ: list[tuple[str, str]] = [
    ("dtype: DT_FLOAT float_val: 3", "float32 () 3.0"),
    (f"dtype: DT_FLOAT {_shape(3)} float_val: [1, 2]", "float32 (3,) [1.0, 2.0, 2.0]"),
    (f"dtype: DT_FLOAT {_shape(3)}", "float32 (3,) [0.0, 0.0, 0.0]"),
    (f"dtype: DT_FLOAT {_shape(2)} float_val: [1, 2, 3]", "float32 (2,) [1.0, 2.0]"),
    (f"dtype: DT_FLOAT {_shape(0)}", "float32 (0,) []"),
    (f"dtype: DT_FLOAT {_shape(2)} int_val: [1, 2]", "float32 (2,) [0.0, 0.0]"),
    (f"dtype: DT_DOUBLE {_shape()} double_val: 2.5", "float64 () 2.5"),
    (f"dtype: DT_INT8 {_shape(3)} int_val: [300, -1]", "int8 (3,) [44, -1, -1]"),
    (f"dtype: DT_UINT8 {_shape(2)} int_val: [300, -1]", "uint8 (2,) [44, 255]"),
    (f"dtype: DT_UINT16 {_shape(2)} int_val: 70000", "uint16 (2,) [4464, 4464]"),
    (f"dtype: DT_INT64 {_shape(2)} int64_val: -5", "int64 (2,) [-5, -5]"),
    (
        f"dtype: DT_UINT32 {_shape(1)} uint32_val: 4294967295",
        "uint32 (1,) [4294967295]",
    ),
    (f"dtype: DT_UINT64 {_shape(1)} uint64_val: 7", "uint64 (1,) [7]"),
    (f"dtype: DT_BOOL {_shape(2)} bool_val: [true, false]", "bool (2,) [True, False]"),
    (
        rf'dtype: DT_BOOL {_shape(3)} tensor_content: "\001\000\002"',
        "bool (3,) [True, False, True]",
    ),
    (f"dtype: DT_HALF {_shape(2)} half_val: [15360, -1]", "float16 (2,) [1.0, nan]"),
    (rf'dtype: DT_HALF {_shape(1)} tensor_content: "\000<"', "float16 (1,) [1.0]"),
    (f"dtype: DT_BFLOAT16 {_shape(2)} half_val: 16256", "bfloat16 (2,) [1.0, 1.0]"),
    (
        f"dtype: DT_COMPLEX64 {_shape(2)} scomplex_val: [1, 2, 3]",
        "complex64 (2,) [(1+2j), (1+2j)]",
    ),
    (
        f"dtype: DT_COMPLEX128 {_shape(2)} dcomplex_val: [1, 2, 3, 4]",
        "complex128 (2,) [(1+2j), (3+4j)]",
    ),
    (
        f'dtype: DT_STRING {_shape(3)} string_val: "a" string_val: "b"',
        "string (3,) [b'a', b'b', b'b']",
    ),
    (f"dtype: DT_STRING {_shape(2)}", "string (2,) [b'', b'']"),
    (
        rf'dtype: DT_STRING {_shape(2)} tensor_content: "\001\002abb"',
        "string (2,) [b'a', b'bb']",
    ),
    (f"dtype: DT_QINT8 {_shape(2)} int_val: [1, 200]", "qint8 (2,) [(1,), (-56,)]"),
    (f"dtype: DT_QUINT16 {_shape(1)} int_val: 70000", "quint16 (1,) [(4464,)]"),
    (f"dtype: DT_QINT32 {_shape(2)} int_val: 1", "qint32 (2,) [(1,), (1,)]"),
    (
        rf'dtype: DT_INT16 {_shape(2)} tensor_content: "\001\000\002\000" int_val: 9',
        "int16 (2,) [1, 2]",
    ),
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_reads(text: str, expected: str) -> None:
    proto = _read(text)
    array = decode_tensor(proto)
    assert recorded.describe_array(array) == expected
    assert not array.flags.writeable
    copy = make_ndarray(proto)
    assert recorded.describe_array(copy) == expected
    assert copy.flags.writeable


HOSTILE = [
    ("", "Unknown data type 0"),
    ("dtype: 99", "Unknown data type 99"),
    ("dtype: DT_FLOAT_REF float_val: 1", "reference type"),
    (f"dtype: DT_FLOAT {_shape(-1)} float_val: 1", "negative size"),
    (f"dtype: DT_FLOAT {_shape(0, -1)}", "negative size"),
    (f"dtype: DT_FLOAT {_shape(10**15, 10**15)} float_val: 1", "too many elements"),
    (f"dtype: DT_DOUBLE {_shape(2**62)} double_val: 1", "too large"),
    (f"dtype: DT_FLOAT {_shape(2**40)} float_val: [1, 2]", "cannot stand for"),
    (f'dtype: DT_FLOAT {_shape(2)} tensor_content: "abc"', "3 bytes"),
    (f'dtype: DT_FLOAT {_shape(1)} tensor_content: "abcdefgh"', "8 bytes"),
    (f'dtype: DT_FLOAT {_shape(2**50)} tensor_content: "abcd"', "4 bytes"),
    (rf'dtype: DT_STRING {_shape(2)} tensor_content: "\001\005abb"', "do not match"),
    (rf'dtype: DT_STRING {_shape(1)} tensor_content: "\200"', "cut off"),
    (rf'dtype: DT_STRING {_shape(2**40)} tensor_content: "\001a"', "cannot hold"),
    (f"dtype: DT_INT32 {_shape(*[1] * 70)}", "too large"),
]


@pytest.mark.parametrize(("text", "message"), HOSTILE)
def test_refuses(text: str, message: str) -> None:
    proto = _read(text)
    with pytest.raises(InvalidArgumentError, match=message):
        decode_tensor(proto)
    with pytest.raises((TypeError, ValueError)):
        make_ndarray(proto)


def test_a_huge_tensor_of_one_value_takes_no_memory() -> None:
    array = decode_tensor(_read(f"dtype: DT_FLOAT {_shape(2**40)} float_val: 1"))
    assert array.shape == (2**40,)
    assert array.strides == (0,)


@pytest.mark.parametrize("dtype", ["DT_RESOURCE", "DT_VARIANT"])
def test_handles_have_no_array_for_users(dtype: str) -> None:
    with pytest.raises(TypeError, match="Unsupported tensor type"):
        make_ndarray(_read(f"dtype: {dtype}"))


def test_handles_are_arrays_of_messages() -> None:
    handle = ResourceHandleProto(name="v", container="c", hash_code=2**64 - 1)
    array = np.empty((), object)
    array[()] = handle
    proto = encode_tensor(array)
    assert proto.dtype == dtypes.resource.as_datatype_enum
    assert decode_tensor(proto)[()] == handle


def test_missing_variants_are_empty() -> None:
    proto = _read(f'dtype: DT_VARIANT {_shape(3)} variant_val {{ type_name: "int" }}')
    names = [variant.type_name for variant in decode_tensor(proto)]
    assert names == ["int", "", ""]


def test_a_spread_value_is_written_once() -> None:
    spread = to_ndarray(1.5, shape=[1000, 1000])
    proto = encode_tensor(spread)
    assert list(proto.float_val) == [1.5]
    assert np.array_equal(decode_tensor(proto), spread)


VALUE_DTYPES = [
    DType(n) for n in range(1, 24) if DType(n).is_numpy_compatible and n != 7
]


@pytest.mark.parametrize("prefer_content", [False, True])
@pytest.mark.parametrize("dtype", VALUE_DTYPES, ids=str)
@given(data=st.data())
def test_written_and_read_is_the_same(
    dtype: DType, prefer_content: bool, data: st.DataObject
) -> None:
    sizes = data.draw(npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    count = int(np.prod(sizes)) * dtype.size
    raw = data.draw(st.binary(min_size=count, max_size=count))
    if dtype.is_bool:
        raw = bytes(byte & 1 for byte in raw)
    array = np.frombuffer(raw, dtype.np_dtype).reshape(sizes)
    proto = encode_tensor(array, prefer_content=prefer_content)
    twin = decode_tensor(TensorProto.FromString(proto.SerializeToString()))
    assert twin.dtype == array.dtype
    assert twin.shape == array.shape
    if dtype is dtypes.float32 and not proto.tensor_content:
        # Signalling NaNs may be quieted on the way through a Python float.
        assert np.array_equal(twin, array, equal_nan=True)
    elif dtype is not dtypes.complex64 or proto.tensor_content:
        assert twin.tobytes() == array.tobytes()


@given(st.lists(st.binary(max_size=4), max_size=4))
def test_strings_survive(values: list[bytes]) -> None:
    proto = make_tensor_proto(values, dtypes.string)
    assert decode_tensor(proto).tolist() == values


@given(st.binary(max_size=60))
def test_random_bytes_give_an_array_or_an_error(raw: bytes) -> None:
    from google.protobuf.message import DecodeError

    try:
        proto = TensorProto.FromString(raw)
    except DecodeError:
        return
    with contextlib.suppress(InvalidArgumentError):
        decode_tensor(proto)


def test_text_is_written_in_utf8() -> None:
    array = np.array(["é", b"\xff"], dtype=object)
    assert list(encode_tensor(array).string_val) == ["é".encode(), b"\xff"]
    with pytest.raises(TypeError, match="binary or unicode string"):
        encode_tensor(np.array([1], dtype=object))


def test_bfloat16_is_written_as_bits() -> None:
    proto = encode_tensor(np.array([1.0, 2.0], ml_dtypes.bfloat16))
    assert list(proto.half_val) == [0x3F80, 0x4000]
