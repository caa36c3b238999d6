"""Resource handles as strings, which a feed can carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.types.object_arrays import object_scalar

if TYPE_CHECKING:
    import numpy as np

    from tensorloom.framework.runtime.resource import Resource
    from tensorloom.protos.resource_handle_pb2 import ResourceHandleProto


def to_string(resource: Resource, device: str, cpp_name: str) -> np.ndarray[Any, Any]:
    """A scalar with the ResourceHandleProto of a resource.

    Args:
      resource: the resource.
      device: where it is.
      cpp_name: what TensorFlow's C++ calls its type.
    """
    from tensorloom.protos.resource_handle_pb2 import ResourceHandleProto

    proto = ResourceHandleProto(
        device=device,
        container=resource.container,
        name=resource.name,
        maybe_type_name=cpp_name,
    )
    return object_scalar(proto.SerializeToString())


def from_string(text: Any) -> ResourceHandleProto:
    """The handle in a scalar.

    Raises:
      InvalidArgumentError: it is none.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.resource_handle_pb2 import ResourceHandleProto

    try:
        return ResourceHandleProto.FromString(text[()])
    except DecodeError:
        raise errors.InvalidArgumentError(
            None, None, "Could not parse string_handle as a valid ResourceHandle"
        ) from None
