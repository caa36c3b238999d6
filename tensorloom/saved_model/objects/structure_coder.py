"""Structures of arguments and results as `StructuredValue` messages and back."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import Any

from tensorloom.data.composite_specs import (
    IndexedSlicesSpec,
    RaggedTensorSpec,
    TensorArraySpec,
)
from tensorloom.data.dataset import DatasetSpec
from tensorloom.data.optional import OptionalSpec
from tensorloom.data.specs import SparseTensorSpec, TensorSpec
from tensorloom.data.type_spec import TypeSpec
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.dtypes import DType
from tensorloom.framework.types.tensor_proto import decode_tensor
from tensorloom.framework.types.tensor_shape import TensorShape

# Numbers of `TypeSpecProto.TypeSpecClass`.
_SPEC_CLASSES: dict[int, Any] = {
    1: SparseTensorSpec,
    2: IndexedSlicesSpec,
    3: RaggedTensorSpec,
    4: TensorArraySpec,
    5: DatasetSpec,
    7: OptionalSpec,
}
_SPEC_NUMBERS = {kind: number for number, kind in _SPEC_CLASSES.items()}


class NotEncodableError(Exception):
    """A value, or a message, that no structure can have."""


def _not_encodable(value: Any) -> NotEncodableError:
    return NotEncodableError(
        f"No encoder for object [{value}] of type [{type(value)}]."
    )


class StructureCoder:
    """Encodes and decodes structures; TensorFlow 1.15 has it under this name."""

    def encode_structure(self, nested_structure: Any) -> Any:
        """The `StructuredValue` of a structure. Raises NotEncodableError."""
        from tensorloom.protos import struct_pb2

        proto = struct_pb2.StructuredValue()
        _encode(nested_structure, proto)
        return proto

    def can_encode(self, nested_structure: Any) -> bool:
        """Whether a structure has a message."""
        try:
            self.encode_structure(nested_structure)
        except NotEncodableError:
            return False
        return True

    def decode_proto(self, proto: Any) -> Any:
        """The structure of a `StructuredValue`.

        Raises:
          NotEncodableError: the message says nothing.
          ValueError: a spec is of a class that is not known here.
        """
        return _decode(proto)


def _encode(value: Any, proto: Any) -> None:
    if value is None:
        proto.none_value.SetInParent()
    elif isinstance(value, bool):
        proto.bool_value = value
    elif isinstance(value, int):
        proto.int64_value = value
    elif isinstance(value, float):
        proto.float64_value = value
    elif isinstance(value, str):
        proto.string_value = value
    elif isinstance(value, TensorShape):
        proto.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, DType):
        proto.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, TypeSpec):
        _encode_spec(value, proto)
    else:
        _encode_nested(value, proto)


def _encode_nested(value: Any, proto: Any) -> None:
    if isinstance(value, list):
        proto.list_value.SetInParent()
        for one in value:
            _encode(one, proto.list_value.values.add())
    elif nest.is_namedtuple(value):
        proto.named_tuple_value.name = type(value).__name__
        for key, one in zip(value._fields, value, strict=True):
            _encode(one, proto.named_tuple_value.values.add(key=key).value)
    elif isinstance(value, tuple):
        proto.tuple_value.SetInParent()
        for one in value:
            _encode(one, proto.tuple_value.values.add())
    elif isinstance(value, Mapping):
        proto.dict_value.SetInParent()
        for key, one in value.items():
            _encode(one, proto.dict_value.fields[key])
    else:
        raise NotEncodableError(
            f"No encoder for object [{value}] of type [{type(value)}]."
        )


def _encode_spec(spec: Any, proto: Any) -> None:
    if isinstance(spec, TensorSpec):
        message = proto.tensor_spec_value
        message.name = spec.name or ""
        message.shape.CopyFrom(spec.shape.as_proto())
        message.dtype = spec.dtype.as_datatype_enum
        return
    number = _SPEC_NUMBERS.get(type(spec))
    if number is None:
        raise NotEncodableError(
            f"No encoder for object [{spec}] of type [{type(spec)}]."
        )
    proto.type_spec_value.type_spec_class = number
    proto.type_spec_value.type_spec_class_name = type(spec).__name__
    _encode(spec._serialize(), proto.type_spec_value.type_state)


def _decode(proto: Any) -> Any:
    kind = proto.WhichOneof("kind")
    if kind == "none_value":
        return None
    if kind in ("bool_value", "int64_value", "float64_value", "string_value"):
        return getattr(proto, kind)
    if kind == "list_value":
        return [_decode(one) for one in proto.list_value.values]
    if kind == "tuple_value":
        return tuple(_decode(one) for one in proto.tuple_value.values)
    if kind == "dict_value":
        fields = proto.dict_value.fields
        return {key: _decode(fields[key]) for key in sorted(fields)}
    if kind == "named_tuple_value":
        pairs = {one.key: _decode(one.value) for one in proto.named_tuple_value.values}
        made = collections.namedtuple(proto.named_tuple_value.name, list(pairs))  # type: ignore[misc]
        return made(**pairs)
    return _decode_type(kind, proto)


def _decode_type(kind: str | None, proto: Any) -> Any:
    if kind == "tensor_shape_value":
        return TensorShape(proto.tensor_shape_value)
    if kind == "tensor_dtype_value":
        return dtypes.as_dtype(proto.tensor_dtype_value)
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        spec = getattr(proto, kind)
        return TensorSpec(TensorShape(spec.shape), spec.dtype, spec.name or None)
    if kind in ("tensor_value", "numpy_value"):
        return decode_tensor(getattr(proto, kind))
    if kind != "type_spec_value":
        raise NotEncodableError(
            f"No encoder for object [{proto}] of type [{type(proto)}]."
        )
    spec = proto.type_spec_value
    if spec.type_spec_class not in _SPEC_CLASSES:
        raise ValueError(
            f"The type '{spec.type_spec_class_name}' is not supported by this version "
            "of TensorFlow. (The object you are loading must have been created with a "
            "newer version of TensorFlow.)"
        )
    return _SPEC_CLASSES[spec.type_spec_class]._deserialize(_decode(spec.type_state))
