"""Protocol messages to tensors of their fields, and back, in host memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.varint import decode_varint, encode_varint
from tensorloom.kernels.host.array.allocation import shape_text
from tensorloom.kernels.host.parsing.proto_fields import (
    EIGHT_BYTES,
    FOUR_BYTES,
    GROUP_END,
    GROUP_START,
    LENGTH,
    VARINT,
    Field,
    find_fields,
    find_message,
)

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_Array = NDArray[Any]
_FIXED_SIZES: Final = {FOUR_BYTES: 4, EIGHT_BYTES: 8}
_MOST_NESTED: Final = 100


def _wire_value(data: bytes, at: int, tag: int, depth: int = 0) -> tuple[Any, int]:
    """The value after a tag, a number or bytes, and where it ends.

    Raises: IndexError or ValueError where the data is cut off or no message.
    """
    wire = tag & 7
    if wire == VARINT:
        return decode_varint(data, at)
    if wire == GROUP_START:
        return _group(data, at, tag, depth)
    if wire == LENGTH:
        size, at = decode_varint(data, at)
    elif wire in _FIXED_SIZES:
        size = _FIXED_SIZES[wire]
    else:
        raise ValueError(f"wire type {wire}")
    if size > len(data) - at:
        raise IndexError("cut off")
    return data[at : at + size], at + size


def _group(data: bytes, at: int, tag: int, depth: int) -> tuple[bytes, int]:
    start, closing = at, tag - GROUP_START + GROUP_END
    if depth == _MOST_NESTED:
        raise ValueError("groups are nested too deep")
    while True:
        end = at
        inner, at = decode_varint(data, at)
        if inner == closing:
            return data[start:end], at
        _, at = _wire_value(data, at, inner, depth + 1)


def _wire_fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """(number, wire type, value) of all fields. Raises DataLossError."""
    at = 0
    while at < len(data):
        try:
            tag, at = decode_varint(data, at)
            if not 0 < tag >> 3 < 1 << 29:
                raise ValueError("field number")
            value, at = _wire_value(data, at, tag)
        except (IndexError, ValueError):
            message = "Unable to parse binary protobuf"
            raise errors.DataLossError(None, None, message) from None
        yield tag >> 3, tag & 7, value


def _packed_values(field: Field, data: bytes) -> list[Any]:
    wire = field.kind.wire
    tag, values, at = wire, [], 0
    while at < len(data):
        try:
            value, at = _wire_value(data, at, tag)
        except (IndexError, ValueError):
            message = "ReadValue: Failed to read a packed field"
            raise errors.DataLossError(None, None, message) from None
        values.append(field.kind.decode(value))
    return values


def _field_values(
    data: bytes, fields: dict[int, tuple[int, Field]], count: int
) -> list[list[Any]]:
    """The values of each wanted field of a message, in order of appearance."""
    found: list[list[Any]] = [[] for _ in range(count)]
    for number, wire, value in _wire_fields(data):
        if number not in fields:
            continue
        index, field = fields[number]
        if wire == field.kind.wire:
            read = [field.kind.decode(value)]
        elif wire == LENGTH and field.kind.wire != GROUP_START:
            read = _packed_values(field, value)
            if read and not field.repeated:
                read = [field.default]  # counted, but not read
        else:
            continue
        # The last one of a field that is not repeated counts.
        if field.repeated:
            found[index] += read
        elif read:
            found[index] = read[-1:]
    return found


def _dense(rows: list[list[Any]], field: Field, dtype: DType) -> _Array:
    """[messages, most values], filled with the default."""
    width = max([1, *map(len, rows)])
    result: _Array = np.full((len(rows), width), field.default, dtype.as_numpy_dtype)
    for row, values in enumerate(rows):
        result[row, : len(values)] = values
    return result


@host_kernel("DecodeProtoV2", large=True)
def decode_proto(c: OpKernelConstruction) -> Compute:
    """Sizes [..., fields], and values [..., most values] of each field."""
    owner, names = c["message_type"].decode(), c["field_names"]
    descriptor = find_message(c["descriptor_source"], owner)
    types = c["output_types"]
    if len(names) != len(types):
        raise invalid_argument(
            "field_names and output_types attributes must have the same length"
        )
    fields = find_fields(descriptor, names, owner)
    for field, dtype in zip(fields, types, strict=True):
        if dtype not in field.kind.types:
            raise invalid_argument(
                f"Unexpected output type for {owner}.{field.name}: {field.type_name} "
                f"to {dtype.name}"
            )
    read = _reader(c, descriptor)
    # Of a field that is asked for twice, the last one gets the values.
    by_number = {field.number: (i, field) for i, field in enumerate(fields)}

    def compute(messages: Any) -> tuple[_Array, ...]:
        outer = np.shape(messages)
        texts = np.asarray(messages, object).reshape(-1).tolist()
        if not texts:
            raise invalid_argument("Bufs argument must contain at least one value")
        found = [_field_values(read(t), by_number, len(fields)) for t in texts]
        sizes = np.array([[len(v) for v in values] for values in found], np.int32)
        columns = [
            _dense([values[i] for values in found], field, dtype)
            for i, (field, dtype) in enumerate(zip(fields, types, strict=True))
        ]
        columns = [column.reshape(*outer, column.shape[1]) for column in columns]
        return (sizes.reshape(*outer, len(fields)), *columns)

    return compute


def _reader(c: OpKernelConstruction, descriptor: Any) -> Any:
    """What makes wire format of a given message."""
    form = c["message_format"]
    if form not in (b"binary", b"text"):
        raise invalid_argument("format must be one of binary or text")
    if form == b"binary" and not c["sanitize"]:
        return lambda data: data
    from google.protobuf import message, message_factory, text_format

    made = message_factory.GetMessageClass(descriptor)

    def from_text(data: bytes) -> bytes:
        try:
            parsed = text_format.Parse(data, made())
        except (text_format.ParseError, UnicodeDecodeError):
            message = "Unable to parse text protobuf"
            raise errors.DataLossError(None, None, message) from None
        return parsed.SerializePartialToString()

    def sanitized(data: bytes) -> bytes:
        try:
            return made.FromString(data).SerializePartialToString()
        except message.DecodeError:
            raise errors.DataLossError(
                None, None, "Unable to parse binary protobuf"
            ) from None

    return from_text if form == b"text" else sanitized


def _encoded(field: Field, values: Sequence[Any]) -> bytes:
    """A field with its values, on the wire."""
    kind = field.kind
    parts = [kind.encode(value) for value in values]
    if kind.wire == VARINT:
        parts = [encode_varint(part) for part in parts]
    if field.packed:
        content = b"".join(parts)
        tag = encode_varint(field.number << 3 | LENGTH)
        return tag + encode_varint(len(content)) + content if values else b""
    tag = encode_varint(field.number << 3 | kind.wire)
    if kind.wire == LENGTH:
        parts = [encode_varint(len(part)) + part for part in parts]
    elif kind.wire == GROUP_START:
        end = encode_varint(field.number << 3 | GROUP_END)
        parts = [part + end for part in parts]
    return b"".join(tag + part for part in parts)


def _check_values(sizes: _Array, values: Sequence[_Array], names: list[str]) -> None:
    for name, value in zip(names, values, strict=True):
        if np.ndim(value) < 2:
            raise invalid_argument(
                f"Invalid shape for field {name}.  Saw shape "
                f"{shape_text(np.shape(value))} but it should be at least a matrix."
            )
    outer = values[0].shape[:-1]
    if any(value.shape[:-1] != outer for value in values):
        raise invalid_argument(
            "Values must match up to the last dimension: "
            + ", ".join(shape_text(value.shape) for value in values)
        )
    if np.shape(sizes) != (*outer, len(names)):
        raise invalid_argument(
            "sizes should be batch_size + [len(field_names)].  Saw: "
            f"{shape_text(np.shape(sizes))} but expected: "
            f"{shape_text((*outer, len(names)))}"
        )


@host_kernel("EncodeProto", large=True)
def encode_proto(c: OpKernelConstruction) -> Compute:
    """Messages [...] of values [..., most values], fields in order of their numbers."""
    owner, types = c["message_type"].decode(), c["Tinput_types"]
    descriptor = find_message(c["descriptor_source"], owner)
    fields = find_fields(descriptor, c["field_names"], owner)
    if len(fields) != len(types):
        raise invalid_argument("Length of inputs list must match field_names")
    for field, dtype in zip(fields, types, strict=True):
        if dtype not in field.kind.types:
            raise invalid_argument(
                f"Incompatible type for field {field.name}.  Saw dtype: "
                f"{_c_name(dtype)} but field type is: {field.type_name}"
            )
    names = [field.name for field in fields]
    order = sorted(range(len(fields)), key=lambda i: fields[i].number)

    def compute(sizes: _Array, *values: _Array) -> _Array:
        _check_values(sizes, values, names)
        outer = values[0].shape[:-1]
        lengths = sizes.reshape(-1, len(fields)).tolist()
        columns = [value.reshape(len(lengths), value.shape[-1]) for value in values]
        texts = []
        for row, counts in enumerate(lengths):
            parts = []
            for i in order:
                if counts[i] > columns[i].shape[1]:
                    raise invalid_argument(
                        "Size to write must not be larger than value tensor; but saw: "
                        f"{counts[i]} > {columns[i].shape[1]} at message {row} field "
                        f"{i}"
                    )
                given = columns[i][row, : max(counts[i], 0)].tolist()
                parts.append(_encoded(fields[i], given))
            texts.append(b"".join(parts))
        result = np.empty(len(texts), object)
        result[:] = texts
        return result.reshape(outer)

    return compute


def _c_name(dtype: DType) -> str:
    names = {dtypes.float32.name: "float", dtypes.float64.name: "double"}
    return names.get(dtype.name, dtype.name)
