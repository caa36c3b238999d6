"""Protocol messages to tensors, and back."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_FIELD = descriptor_pb2.FieldDescriptorProto


_TYPES = {
    "double": ("float64",),
    "float": ("float32", "float64"),
    "int32": ("int32", "int64"),
    "int64": ("int64",),
    "uint32": ("uint32", "uint64"),
    "uint64": ("uint64",),
    "sint32": ("int32", "int64"),
    "sint64": ("int64",),
    "fixed32": ("uint32", "uint64"),
    "fixed64": ("uint64",),
    "sfixed32": ("int32", "int64"),
    "sfixed64": ("int64",),
    "bool": ("bool",),
    "string": ("string",),
    "bytes": ("string",),
    "message": ("string",),
    "enum": ("int32",),
}


_DEFAULTS = {"int32": "-7", "string": "hey", "float": "1.5", "bool": "true"}


_MESSAGE: dict[str, Any] = {"message_type": "things.Thing"}


@cache
def _descriptors() -> Any:
    """A message with each type: alone, repeated, packed, with a default."""
    file = descriptor_pb2.FileDescriptorProto(name="things.proto", package="things")
    words = file.enum_type.add(name="Word")
    # TensorFlow's default of an enum is what its memory held, so 0 is not compared.
    words.value.add(name="NONE", number=0)
    words.value.add(name="ONE", number=1)
    message = file.message_type.add(name="Thing")

    def add(name: str, kind: str, label: Any = _FIELD.LABEL_OPTIONAL) -> Any:
        number = len(message.field) + 1
        field = message.field.add(name=name, number=number, label=label)
        field.type = _FIELD.Type.Value("TYPE_" + kind.upper())
        if kind == "message":
            field.type_name = ".things.Thing"
        if kind == "enum":
            field.type_name = ".things.Word"
        return field

    for kind in _TYPES:
        add(kind, kind)
        add(kind + "_list", kind, _FIELD.LABEL_REPEATED)
        if _TYPES[kind] != ("string",):
            packed = add(kind + "_packed", kind, _FIELD.LABEL_REPEATED)
            packed.options.packed = True
    for kind, default in _DEFAULTS.items():
        add(kind + "_default", kind).default_value = default
    return descriptor_pb2.FileDescriptorSet(file=[file])


def _source() -> bytes:
    return b"bytes://" + bytes(_descriptors().SerializeToString())


@cache
def _thing() -> Any:
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_descriptors().file[0])
    descriptor = pool.FindMessageTypeByName("things.Thing")
    return message_factory.GetMessageClass(descriptor)


def _kind(name: str) -> str:
    return name.split("_")[0]


def _some_fields(d: Draw) -> list[str]:
    names = [field.name for field in _descriptors().file[0].message_type[0].field]
    return list(d.rng.permutation(names)[: d.integer(1, 6)])


def _values(d: Draw, name: str, shape: tuple[int, ...]) -> Any:
    kind, dtype = _kind(name), d.choice(_TYPES[_kind(name)])
    if dtype == "string":
        words = [b"", b"\x08\x01", b"some words"]
        chosen = np.empty(shape, object)
        chosen.reshape(-1)[:] = [d.choice(words) for _ in range(chosen.size)]
        return chosen
    if kind == "enum":
        return d.rng.integers(0, 2, shape).astype(np.int32)
    values = d.rng.integers(0, 1 << d.integer(1, 40), shape)
    if kind[0] in "dfis" and not kind.startswith("fixed"):
        values = values * d.rng.choice([-1, 1], shape)
    return values.astype(dtype)


def _encoded(d: Draw) -> Any:
    names, outer = _some_fields(d), d.shape(1, 2, size=3)
    values = [_values(d, name, (*outer, d.integer(0, 3))) for name in names]
    sizes = np.zeros((*outer, len(names)), np.int32)
    for i, value in enumerate(values):
        sizes[..., i] = d.rng.integers(0, value.shape[-1] + 1, outer)
    return _writer(sizes, values, names)


def _writer(sizes: Any, values: Any, names: list[str]) -> Any:
    return call(
        np.asarray(sizes, np.int32),
        values,
        field_names=names,
        descriptor_source=_source(),
        **_MESSAGE,
    )


_ONE = np.array([[1]], np.int32)


spec(
    "EncodeProto",
    _encoded,
    types=(),
    examples=40,
    gradient=False,
    mutate=("rank", "size", "empty"),
    bad=(
        lambda d: _writer([[2]], [_ONE], ["int32"]),
        lambda d: _writer([[-1]], [_ONE], ["int32"]),
        lambda d: _writer([[1]], [_ONE], ["string"]),
        lambda d: _writer([[1]], [_ONE], ["nothing"]),
        lambda d: _writer([[1, 1]], [_ONE], ["int32"]),
        lambda d: _writer([[1]], [_ONE], ["int32", "int32_list"]),
    ),
)


def _written(d: Draw) -> bytes:
    """A message of random fields; some come twice, or are none of its own."""
    parts = []
    for _ in range(d.integer(0, 3)):
        message = _thing()()
        for name in _some_fields(d):
            _set(d, message, name)
        parts.append(message.SerializeToString())
        if d.maybe(0.2):
            parts.append(d.choice([b"\xf8\xff\x01\x05", b"\xfb\x7f\x08\x01\xfc\x7f"]))
    return b"".join(parts)


def _set(d: Draw, message: Any, name: str) -> None:
    if name == "enum":
        message.enum = 1
    elif name == "message":
        message.message.int32 = d.integer(-9, 9)
    elif name == "message_list":
        message.message_list.add().int64 = 5
    else:
        values = _values(d, name, (d.integer(1, 3),)).tolist()
        if _kind(name) in ("int32", "sint32", "sfixed32"):
            values = [value % 2**31 for value in values]
        elif _kind(name) in ("uint32", "fixed32"):
            values = [value % 2**32 for value in values]
        elif _kind(name) == "string":
            values = [value.decode() for value in values]
        if name.endswith(("_list", "_packed")):
            getattr(message, name).extend(values)
        else:
            setattr(message, name, values[0])


def _decoded(d: Draw) -> Any:
    names = [name for name in _some_fields(d) if _kind(name) != "enum"] or ["bool"]
    outer = d.shape(0, 2, size=3, empty=0)
    messages = np.empty(outer, object)
    messages.reshape(-1)[:] = [_written(d) for _ in range(messages.size)]
    types = [d.choice(_TYPES[_kind(name)]) for name in names]
    return _reader(messages, names, types, sanitize=d.maybe(0.2))


def _reader(messages: Any, names: list[str], types: list[str], **attrs: Any) -> Any:
    return call(
        np.asarray(messages, object),
        field_names=names,
        output_types=types,
        **{**_MESSAGE, "descriptor_source": _source(), **attrs},
    )


def _one(message: bytes, **attrs: Any) -> Any:
    return _reader([message], ["int32", "string"], ["int32", "string"], **attrs)


spec(
    "DecodeProtoV2",
    _decoded,
    types=(),
    examples=40,
    gradient=False,
    mutate=("empty",),
    bad=(
        lambda d: _one(b"\xff"),
        lambda d: _one(b"\x00\x01"),
        lambda d: _one(b"\xff", sanitize=True),
        lambda d: _one(b"", message_type="things.Other"),
        lambda d: _one(b"", descriptor_source="/no/such/file"),
        lambda d: _one(b"", message_format="json"),
        lambda d: _one(b"int32: ", message_format="text"),
        lambda d: _one(b"int32: 4 string: 'a'", message_format="text"),
        lambda d: _reader([b""], ["int32"], ["string"]),
        lambda d: _reader([b""], ["nothing"], ["string"]),
        lambda d: _reader([b""], ["int32", "int64"], ["int32"]),
    ),
)
