"""Variants in tensor bundles: each element a message, with a checksum behind it.

On disk (TensorFlow: `core/util/tensor_bundle/tensor_bundle.cc`), for each element: its
length as a varint, a `VariantTensorDataProto`, and a masked checksum of all bytes so
far, lengths as eight bytes and checksums included.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes, tensor_proto
from tensorloom.framework.types.object_arrays import as_object_array
from tensorloom.framework.types.variant_codec import codec_named, codec_of
from tensorloom.framework.types.varint import decode_varint, encode_varint
from tensorloom.storage.tables.crc32c import crc32c, mask


@dataclass(frozen=True, slots=True)
class OpaqueVariant:
    """A variant of a type that nobody here knows; it can be saved again.

    TensorFlow, too, decodes a variant when an op uses it.
    """

    #: As TensorFlow names the type.
    type_name: str
    #: The `VariantTensorDataProto`.
    message: bytes


def chunks(array: Any) -> Iterator[tuple[bytes, bytes]]:
    """What is written for an array of variants, and what is hashed for that.

    Raises:
      UnimplementedError: a variant has no message.
    """
    crc = 0
    for value in array.reshape(-1).tolist():
        message = encode(value)
        size = struct.pack("<Q", len(message))
        crc = crc32c(message, crc32c(size, crc))
        check = struct.pack("<I", mask(crc))
        crc = crc32c(check, crc)
        yield encode_varint(len(message)), size
        yield message, message
        yield check, check


def parse(data: bytes, count: int) -> tuple[list[Any], int]:
    """The elements in what is stored, and the checksum of all of it.

    Raises:
      ValueError: the bytes are not those of `count` variants.
    """
    found: list[Any] = []
    at = crc = 0
    for _ in range(count):
        size, at = decode_varint(data, at)
        end = at + size
        if end + 4 > len(data):
            raise ValueError(f"a variant of {size} bytes is past the end")
        message = data[at:end]
        crc = crc32c(message, crc32c(struct.pack("<Q", size), crc))
        check = data[end : end + 4]
        if check != struct.pack("<I", mask(crc)):
            raise ValueError("the checksum of a variant does not match")
        crc = crc32c(check, crc)
        found.append(decode(message))
        at = end + 4
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes are behind the last variant")
    return found, mask(crc)


def encode(value: Any) -> bytes:
    """A variant as the bytes of its message.

    Raises:
      UnimplementedError: its type has none.
    """
    from tensorloom.protos.tensor_pb2 import VariantTensorDataProto

    if isinstance(value, OpaqueVariant):
        return value.message
    codec = codec_of(value)
    if codec is None:
        raise errors.UnimplementedError(
            None, None, f"A variant of type {type(value).__name__} cannot be saved"
        )
    metadata, elements = codec.encode(value)
    data = VariantTensorDataProto(type_name=codec.type_name, metadata=metadata)
    for element in elements:
        proto = data.tensors.add()
        if codec_of(element) is None:
            tensor_proto.encode_tensor(
                as_object_array(element), None, proto, prefer_content=True
            )
            continue
        content = encode(element)
        proto.dtype = dtypes.variant.as_datatype_enum  # type: ignore[assignment]
        proto.tensor_shape.SetInParent()
        proto.tensor_content = encode_varint(len(content)) + content
    return data.SerializeToString()


def decode(message: bytes) -> Any:
    """The variant of a message.

    Raises:
      ValueError: it is malformed.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.tensor_pb2 import VariantTensorDataProto

    try:
        data = VariantTensorDataProto.FromString(message)
        codec = codec_named(data.type_name)
        if codec is None:
            return OpaqueVariant(data.type_name, message)
        return codec.decode(data.metadata, [_element(t) for t in data.tensors])
    except (DecodeError, TypeError, IndexError, errors.OpError) as error:
        raise ValueError(f"malformed variant: {error}") from None


def to_messages(values: Any) -> Any:
    """An array of variants as one of `VariantTensorDataProto`s."""
    from tensorloom.protos.tensor_pb2 import VariantTensorDataProto

    messages = np.empty(values.shape, object)
    for index, value in np.ndenumerate(values):
        messages[index] = VariantTensorDataProto.FromString(encode(value))
    return messages


def from_messages(messages: Any) -> Any:
    """An array of `VariantTensorDataProto`s as one of variants.

    Raises:
      ValueError: one is malformed.
    """
    values = np.empty(messages.shape, object)
    for index, message in np.ndenumerate(messages):
        values[index] = decode(message.SerializeToString())
    return values


def _element(proto: Any) -> Any:
    if proto.dtype != dtypes.variant.as_datatype_enum:
        return tensor_proto.decode_tensor(proto)
    if not proto.tensor_content:
        values = proto.variant_val
        return decode(values[0].SerializeToString()) if values else None
    size, start = decode_varint(proto.tensor_content, 0)
    if proto.tensor_shape.dim or start + size != len(proto.tensor_content):
        raise ValueError("malformed variant in a variant")
    return decode(proto.tensor_content[start:])
