"""Fields of protocol messages whose descriptors a program brings along.

Messages are read and written field by field, not through classes: only so do the bytes
of inner messages stay as they came, and fields of the wrong kind are passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.package_modules import import_all
from tensorloom.framework.types import dtypes
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

VARINT, EIGHT_BYTES, LENGTH, GROUP_START, GROUP_END, FOUR_BYTES = range(6)
_MASK32: Final = (1 << 32) - 1
_MASK64: Final = (1 << 64) - 1
_BYTES: Final = b"bytes://"


@dataclass(frozen=True, slots=True)
class Kind:
    """How values of a type of fields lie on the wire.

    The wire has numbers for varints, and bytes for all else.
    """

    wire: int
    types: tuple[DType, ...]  # of tensors that may hold such values
    decode: Callable[[Any], Any]
    encode: Callable[[Any], Any]


def _signed(bits: int, value: int) -> int:
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


def _unzigzag(bits: int, value: int) -> int:
    value &= (1 << bits) - 1
    return value >> 1 ^ -(value & 1)


def _zigzag(bits: int, value: Any) -> int:
    number = _signed(bits, int(value))
    return (number << 1 ^ number >> bits - 1) & ((1 << bits) - 1)


def _integer(bits: int, *types: DType) -> Kind:
    """Negative numbers take ten bytes, whatever their type."""
    signed = partial(_signed, bits)
    return Kind(VARINT, types, signed, lambda v: signed(int(v)) & _MASK64)


def _unsigned(mask: int, *types: DType) -> Kind:
    return Kind(VARINT, types, lambda v: v & mask, lambda v: int(v) & mask)


def _zigzagged(bits: int, *types: DType) -> Kind:
    return Kind(VARINT, types, partial(_unzigzag, bits), partial(_zigzag, bits))


def _fixed(code: str, wrap: Callable[[Any], Any], *types: DType) -> Kind:
    layout = struct.Struct("<" + code)
    wire = FOUR_BYTES if layout.size == 4 else EIGHT_BYTES

    def encode(value: Any) -> bytes:
        return layout.pack(wrap(value))

    return Kind(wire, types, lambda data: layout.unpack(data)[0], encode)


_TEXT = Kind(LENGTH, (dtypes.string,), bytes, bytes)
_NARROW = (dtypes.int32, dtypes.int64)
_NARROW_UNSIGNED = (dtypes.uint32, dtypes.uint64)

# By the names of descriptor.proto, in the order of their numbers.
KINDS: Final[dict[str, Kind]] = {
    "DOUBLE": _fixed("d", float, dtypes.float64),
    "FLOAT": _fixed("f", float, dtypes.float32, dtypes.float64),
    "INT64": _integer(64, dtypes.int64),
    "UINT64": _unsigned(_MASK64, dtypes.uint64),
    "INT32": _integer(32, *_NARROW),
    "FIXED64": _fixed("Q", int, dtypes.uint64),
    "FIXED32": _fixed("I", lambda v: int(v) & _MASK32, *_NARROW_UNSIGNED),
    "BOOL": Kind(VARINT, (dtypes.bool,), bool, int),
    "STRING": _TEXT,
    "GROUP": Kind(GROUP_START, (dtypes.string,), bytes, bytes),
    "MESSAGE": _TEXT,
    "BYTES": _TEXT,
    "UINT32": _unsigned(_MASK32, *_NARROW_UNSIGNED),
    "ENUM": _integer(32, dtypes.int32),
    "SFIXED32": _fixed("i", lambda v: _signed(32, int(v)), *_NARROW),
    "SFIXED64": _fixed("q", int, dtypes.int64),
    "SINT32": _zigzagged(32, *_NARROW),
    "SINT64": _zigzagged(64, dtypes.int64),
}
# The numbers of descriptor.proto.
_TYPE_NAMES: Final = dict(enumerate(KINDS, 1))


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message type."""

    name: str
    number: int
    type_name: str  # "int32"
    kind: Kind
    repeated: bool
    packed: bool
    default: Any  # of its own, or the type's zero


def find_message(source: bytes, message_type: str) -> Any:
    """The descriptor of a message type.

    Args:
      source: where descriptors come from: the process ("" or "local://"), a
        serialized FileDescriptorSet after "bytes://", or the file that holds one.

    Raises:
      InvalidArgumentError: there are no descriptors, or none of that name.
    """
    if source in (b"", b"local://"):
        pool = _own_descriptors()
        # TensorFlow's messages are ours under another package name.
        own = message_type.replace("tensorflow.", "tensorloom.", 1)
        names = [message_type, own]
    else:
        pool, names = _pool_of(source), [message_type]
    for name in names:
        try:
            return pool.FindMessageTypeByName(name)
        except KeyError:
            continue
    raise invalid_argument(f"No descriptor found for message type {message_type}")


def _own_descriptors() -> Any:
    from google.protobuf import descriptor_pool

    from tensorloom import protos

    import_all(protos)
    return descriptor_pool.Default()


def _pool_of(source: bytes) -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool, message

    pool = descriptor_pool.DescriptorPool()
    try:
        if source.startswith(_BYTES):
            data = source[len(_BYTES) :]
        else:
            data = filesystem.read_file(source.decode())
        for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
            pool.Add(file)
    except (OSError, ValueError, TypeError, message.DecodeError, errors.OpError):
        raise invalid_argument(
            "Source does not represent serialized file descriptor set proto."
        ) from None
    return pool


def find_fields(descriptor: Any, names: Sequence[bytes], owner: str) -> list[Field]:
    """The fields of those names, or extensions of those full names.

    Raises:
      InvalidArgumentError: there is none of a name.
    """
    found = []
    for name in map(bytes.decode, names):
        field = descriptor.fields_by_name.get(name) or _extension(descriptor, name)
        if field is None:
            raise invalid_argument(f"Unknown field: {name} in message type {owner}")
        found.append(_field(field))
    return found


def _extension(descriptor: Any, name: str) -> Any:
    try:
        extension = descriptor.file.pool.FindExtensionByName(name)
    except KeyError:
        return None
    return extension if extension.containing_type is descriptor else None


def _field(field: Any) -> Field:
    type_name = _TYPE_NAMES[field.type]
    kind = KINDS[type_name]
    default = field.default_value
    if kind.types[0] == dtypes.string:
        default = default.encode() if isinstance(default, str) else default
        default = default if isinstance(default, bytes) else b""
    elif field.is_repeated:
        default = 0
    return Field(
        field.name,
        field.number,
        type_name.lower(),
        kind,
        field.is_repeated,
        field.is_packed,
        default,
    )
