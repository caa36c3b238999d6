"""Run-time values as bytes, for the socket between tensorloom's tasks.

    u32 count | for each value: u16 dtype, u16 rank, i64 sizes..., u64 bytes | data...

The data of each value begin at a multiple of 64 bytes, so that they can be used where
they were received. Strings are all lengths as u64, then all bytes. Numbers are
little-endian.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import Resource
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.framework.types.variant_codec import codec_of
from tensorloom.transport.memory.lent_memory import LentBody
from tensorloom.transport.wire import tensors

Buffer = bytes | memoryview

_COUNT: Final = struct.Struct("<I")
_HEAD: Final = struct.Struct("<HH")
_SIZE: Final = struct.Struct("<Q")
_ALIGNMENT: Final = 64
_PADDING: Final = bytes(_ALIGNMENT)
_MAX_RANK: Final = 254
# Up to so many bytes a copy costs less than a view.
_COPIED: Final = 1024

_STRING: Final = dtypes.string.as_datatype_enum
_RESOURCE: Final = dtypes.resource.as_datatype_enum
_VARIANT: Final = dtypes.variant.as_datatype_enum


def pack(values: Sequence[Any]) -> tuple[list[Buffer], int]:
    """The values as buffers to be sent one after the other, and their total size.

    The buffers refer to the values' memory; they are copied by nobody but the socket.

    Raises:
      errors.UnimplementedError: a value is a Python object without a message.
    """
    meta = [_COUNT.pack(len(values))]
    data: list[Buffer] = []
    for value in values:
        number, sizes, content = _content(value)
        meta.append(_HEAD.pack(number, len(sizes)))
        if sizes:
            meta.append(struct.pack(f"<{len(sizes)}q", *sizes))
        length = len(content)
        meta.append(_SIZE.pack(length))
        data.append(content)
    buffers: list[Buffer] = [b"".join(meta)]
    total = len(buffers[0])
    for content in data:
        if not content:
            continue
        gap = -total % _ALIGNMENT
        if gap:
            buffers.append(_PADDING[:gap])
        buffers.append(content)
        total += gap + len(content)
    return buffers, total


def _content(value: Any) -> tuple[int, tuple[int, ...], Buffer]:
    """(dtype number, sizes, bytes) of a value."""
    if isinstance(value, np.ndarray):
        array = value
    elif isinstance(value, np.generic):
        array = np.asarray(value)
    elif isinstance(value, Resource | tensors.RemoteResource):
        return _RESOURCE, (), _packed_handle(value)
    elif codec_of(value) is not None:
        return _VARIANT, (), _packed_variant(value)
    else:
        array = object_scalar(value)
    if array.dtype == object:
        return _STRING, array.shape, _packed_strings(array)
    number = dtypes.as_dtype(array.dtype).as_datatype_enum
    if array.nbytes <= _COPIED:
        return number, array.shape, array.tobytes()
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return number, array.shape, flat.data


def _packed_variant(value: Any) -> bytes:
    from tensorloom.protos.tensor_pb2 import TensorProto

    proto = TensorProto()
    tensors.encode(value, proto)
    return proto.SerializeToString()


def _packed_handle(value: Any) -> bytes:
    from tensorloom.protos.tensor_pb2 import TensorProto

    proto = TensorProto()
    tensors.encode(value, proto)
    content: bytes = proto.resource_handle_val[0].SerializeToString()
    return content


def _packed_strings(array: np.ndarray[Any, Any]) -> bytes:
    items = [_as_bytes(item) for item in array.reshape(-1).tolist()]
    lengths = np.fromiter(map(len, items), "<u8", len(items))
    return lengths.tobytes() + b"".join(items)


def _as_bytes(item: Any) -> bytes:
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        return item.encode()
    raise errors.UnimplementedError(
        None, None, f"A {type(item).__name__} cannot be sent to another task"
    )


def unpack(body: np.ndarray[Any, Any] | LentBody) -> list[Any]:
    """The values in received bytes; arrays share their memory.

    A number of rank 0 is a NumPy scalar, a string of rank 0 an array, as kernels take
    them.

    Raises:
      errors.InvalidArgumentError: the bytes are malformed.
    """
    try:
        return _values(body)
    except (struct.error, ValueError, TypeError, OverflowError) as error:
        raise errors.InvalidArgumentError(
            None, None, f"Malformed values in a message: {error}"
        ) from None


@lru_cache
def _sizes(rank: int) -> struct.Struct:
    return struct.Struct(f"<{rank}q")


def _values(body: np.ndarray[Any, Any] | LentBody) -> list[Any]:
    # In one piece: every step passes here, and calls cost more than what they do.
    head = body.rest if isinstance(body, LentBody) else body
    content = memoryview(head)  # type: ignore[arg-type]
    (count,) = _COUNT.unpack_from(content)
    position = _COUNT.size
    if count * (_HEAD.size + _SIZE.size) > len(body):
        raise ValueError(f"{len(body)} bytes cannot hold {count} values")
    heads: list[tuple[int, tuple[int, ...], int]] = []
    for _ in range(count):
        number, rank = _HEAD.unpack_from(content, position)
        position += _HEAD.size
        sizes: tuple[int, ...] = ()
        if rank:
            if rank > _MAX_RANK:
                raise ValueError(f"a tensor of rank {rank}")
            sizes = _sizes(rank).unpack_from(content, position)
            position += 8 * rank
            if min(sizes) < 0:
                raise ValueError(f"a tensor of shape {list(sizes)}")
        (length,) = _SIZE.unpack_from(content, position)
        position += _SIZE.size
        heads.append((number, sizes, length))
    values = []
    for number, sizes, length in heads:
        if length:
            position += -position % _ALIGNMENT
        end = position + length
        if end > len(body):
            raise ValueError(f"a tensor of {length} bytes beyond the end")
        values.append(_value(body[position:end], number, sizes))
        position = end
    return values


def _value(content: np.ndarray[Any, Any], number: int, sizes: tuple[int, ...]) -> Any:
    if number == _RESOURCE:
        return _handle(content.tobytes())
    if number == _VARIANT:
        return _variant(content.tobytes())
    count = math.prod(sizes)
    if number == _STRING:
        return _strings(content.tobytes(), count, sizes)
    dtype = dtypes.as_dtype(number)
    if not dtype.is_numpy_compatible or len(content) != count * dtype.size:
        raise ValueError(f"{len(content)} bytes for {count} elements of {dtype.name}")
    array = content.view(dtype.np_dtype)
    return array.reshape(sizes) if sizes else array[0]


def _variant(content: bytes) -> Any:
    from google.protobuf.message import DecodeError

    from tensorloom.protos.tensor_pb2 import TensorProto

    try:
        proto = TensorProto.FromString(content)
    except DecodeError as error:
        raise ValueError(str(error)) from None
    if proto.dtype != _VARIANT:
        raise ValueError("no variant where one is announced")
    return tensors.decode(proto)


def _handle(content: bytes) -> tensors.RemoteResource:
    from google.protobuf.message import DecodeError

    from tensorloom.protos.resource_handle_pb2 import ResourceHandleProto

    try:
        return tensors.RemoteResource(ResourceHandleProto.FromString(content))
    except DecodeError as error:
        raise ValueError(str(error)) from None


def _strings(content: bytes, count: int, sizes: tuple[int, ...]) -> Any:
    if count * 8 > len(content):
        raise ValueError(f"{len(content)} bytes cannot hold {count} strings")
    lengths = np.frombuffer(content, "<u8", count)
    ends = (np.cumsum(lengths) + count * 8).tolist()
    if count and ends[-1] != len(content):
        raise ValueError(f"strings end at {ends[-1]} of {len(content)} bytes")
    array = np.empty(count, object)
    start = count * 8
    for index, end in enumerate(ends):
        array[index] = content[start:end]
        start = end
    return array.reshape(sizes)
