"""`TensorList` as TensorFlow's message of it.

metadata: varints: count of unset elements, their indices, dtype, most elements;
          then a TensorShapeProto of the elements' shape
tensors:  the elements that are set
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.framework.types.variant_codec import VariantCodec, register_variant
from tensorloom.framework.types.varint import decode_varint, encode_varint
from tensorloom.kernels.torch.lists.tensor_list import UNSET, TensorList
from tensorloom.kernels.torch.state.variable_value import to_host


def encode_list(value: TensorList) -> tuple[bytes, Sequence[Any]]:
    """The metadata, and the elements in host memory."""
    items = value.elements()
    unset = [i for i, item in enumerate(items) if item is UNSET]
    numbers = [
        len(unset),
        *unset,
        value.element_dtype.as_datatype_enum,
        value.max_elements,
    ]
    dims = value.element_shape
    shape = TensorShape.of(None if dims is None else tuple(dims)).as_proto()
    metadata = b"".join(map(encode_varint, numbers)) + shape.SerializeToString()
    dtype = value.element_dtype
    elements = [_host(item) for item in items if item is not UNSET]
    return metadata, [dtypes.named_view(element, dtype) for element in elements]


def _host(item: Any) -> Any:
    return to_host(item) if hasattr(item, "cpu") else item


def decode_list(metadata: bytes, tensors: Sequence[Any]) -> TensorList:
    """The list again.

    Raises:
      ValueError: the metadata is malformed.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.tensor_shape_pb2 import TensorShapeProto

    count, position = decode_varint(metadata, 0)
    if count > len(metadata):
        raise ValueError(f"a list with {count} unset elements")
    numbers = []
    for _ in range(count + 2):
        number, position = decode_varint(metadata, position)
        numbers.append(number)
    *indices, number, most = numbers
    unset, dtype = set(indices), dtypes.as_dtype(number)
    try:
        proto = TensorShapeProto.FromString(metadata[position:])
    except DecodeError as error:
        raise ValueError(str(error)) from None
    total = len(tensors) + len(unset)
    if any(index >= total for index in unset):
        raise ValueError("an unset element beyond the end of its list")
    given = iter(tensors)
    items = [UNSET if i in unset else _element(next(given)) for i in range(total)]
    dims = TensorShape(proto).dims_tuple
    limit = most - 2**64 if most >= 2**63 else most
    return TensorList(dtype, dims, items, total, limit)


def _element(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value
    if isinstance(value, bytes):
        return np.array(value, object)
    if not isinstance(value, np.ndarray):
        return value
    value = dtypes.memory_view(value)
    return value if value.shape else value[()]


register_variant(
    TensorList, VariantCodec("tensorflow::TensorList", encode_list, decode_list)
)
