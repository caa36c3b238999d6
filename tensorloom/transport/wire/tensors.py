"""Run-time values as `TensorProto` messages, and back.

A resource handle crosses as the name of the resource: the resource stays where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import Resource
from tensorloom.framework.types import dtypes, tensor_proto
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.framework.types.variant_codec import VariantCodec, codec_named, codec_of
from tensorloom.framework.types.varint import decode_varint, encode_varint

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.protos.tensor_pb2 import TensorProto

# More bytes than this do not fit into one message.
MAX_MESSAGE_BYTES: Final = 2**31 - 1


class RemoteResource:
    """The name of a resource on another task: what a handle is outside of its task."""

    __slots__ = ("proto",)

    def __init__(self, proto: Any) -> None:
        self.proto = proto  # a ResourceHandleProto

    def __repr__(self) -> str:
        return (
            f"<resource {self.proto.container}/{self.proto.name} at "
            f"{self.proto.device}>"
        )


def encode(value: Any, proto: TensorProto, dtype: DType | None = None) -> None:
    """Fills an empty message with a host value.

    Args:
      value: an array, a NumPy scalar, bytes, or a resource.
      proto: the message.
      dtype: the value's; needed where the array does not tell it. A quantized value
        is an array of its base integers.

    Raises:
      errors.InvalidArgumentError: the value is larger than a message may be.
      errors.UnimplementedError: it is a Python object that has no message.
    """
    if isinstance(value, Resource | RemoteResource):
        proto.dtype = dtypes.resource.as_datatype_enum  # type: ignore[assignment]
        _fill_handle(proto.resource_handle_val.add(), value)
        return
    codec = codec_of(value)
    if codec is not None:
        _fill_variant(codec, value, proto)
        return
    array = _as_array(value)
    if array.dtype == object and array.size and not _is_text(array.flat[0]):
        raise errors.UnimplementedError(
            None,
            None,
            f"A {type(array.flat[0]).__name__} cannot be sent to another task",
        )
    if array.nbytes > MAX_MESSAGE_BYTES:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"A tensor of {array.nbytes} bytes is larger than a message may be "
            f"({MAX_MESSAGE_BYTES} bytes)",
        )
    tensor_proto.encode_tensor(array, dtype, proto, prefer_content=True)


def _as_array(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, np.generic):
        return np.asarray(value)
    return object_scalar(value)


def _fill_variant(codec: VariantCodec, value: Any, proto: TensorProto) -> None:
    """As TensorFlow sends them: the length as a varint, then the message's bytes.

    (It leaves what comes in `variant_val` in a form that its kernels cannot read.)
    """
    from tensorloom.protos.tensor_pb2 import VariantTensorDataProto

    proto.dtype = dtypes.variant.as_datatype_enum  # type: ignore[assignment]
    proto.tensor_shape.SetInParent()
    metadata, elements = codec.encode(value)
    data = VariantTensorDataProto(type_name=codec.type_name, metadata=metadata)
    for element in elements:
        encode(element, data.tensors.add())
    content = data.SerializeToString()
    proto.tensor_content = encode_varint(len(content)) + content


def _variant_data(proto: TensorProto) -> Any:
    """The only message in a tensor of variants; None if there is none."""
    from google.protobuf.message import DecodeError

    from tensorloom.protos.tensor_pb2 import VariantTensorDataProto

    if not proto.tensor_content:
        return proto.variant_val[0] if proto.variant_val else None
    try:
        size, start = decode_varint(proto.tensor_content, 0)
        if start + size != len(proto.tensor_content):
            raise ValueError(f"{len(proto.tensor_content)} bytes for {size}")
        return VariantTensorDataProto.FromString(proto.tensor_content[start:])
    except (ValueError, DecodeError) as error:
        raise errors.InvalidArgumentError(
            None, None, f"Malformed variant in a message: {error}"
        ) from None


def _variant(proto: TensorProto) -> Any:
    data = _variant_data(proto)
    if data is None:  # dead, or of a branch that was not taken
        return None
    codec = codec_named(data.type_name)
    if codec is None or proto.tensor_shape.dim:
        raise errors.UnimplementedError(
            None,
            None,
            f"A variant of type '{data.type_name}' cannot be received from another "
            "task",
        )
    try:
        return codec.decode(data.metadata, [_decoded(t) for t in data.tensors])
    except (ValueError, TypeError) as error:
        raise errors.InvalidArgumentError(
            None, None, f"Malformed {data.type_name} in a message: {error}"
        ) from None


def _is_text(value: Any) -> bool:
    return isinstance(value, bytes | str)


def _fill_handle(proto: Any, value: Resource | RemoteResource) -> None:
    if isinstance(value, RemoteResource):
        proto.CopyFrom(value.proto)
        return
    proto.device = value.device
    proto.container = value.container
    proto.name = value.name
    proto.maybe_type_name = type(value).__name__


def decode(proto: TensorProto) -> Any:
    """The host value in a message: a read-only array, bytes for a string scalar.

    Raises:
      errors.InvalidArgumentError: the message is malformed.
      errors.UnimplementedError: it holds a variant of a type that is not known.
    """
    value = _decoded(proto)
    return dtypes.memory_view(value) if isinstance(value, np.ndarray) else value


def _decoded(proto: TensorProto) -> Any:
    """As `decode`; arrays tell their dtype if it is quantized, too."""
    if proto.dtype == dtypes.resource.as_datatype_enum:
        if len(proto.resource_handle_val) != 1 or proto.tensor_shape.dim:
            raise errors.InvalidArgumentError(
                None, None, "A tensor of resource handles must hold exactly one"
            )
        return RemoteResource(proto.resource_handle_val[0])
    if proto.dtype == dtypes.variant.as_datatype_enum:
        return _variant(proto)
    return tensor_proto.decode_tensor(proto)


def as_fetched(value: Any) -> Any:
    """A received value as a step returns it: rank 0 as a scalar, or bytes."""
    return value[()] if getattr(value, "ndim", None) == 0 else value
