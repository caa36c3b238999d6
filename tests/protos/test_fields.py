"""Messages have TensorFlow's field numbers and types, recorded in `fields.txt`.

A line is `Message: name=number:type ...`, sorted by number; `*` marks a repeated field,
`/name` a member of a oneof. `enum Name: VALUE=number ...` is an enum.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import descriptor_pb2, text_format

import tensorloom.protos
from tensorloom.protos.pool import POOL

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

FOLDER = Path(tensorloom.protos.__file__).parent
RECORDED = dict(
    line.split(":", 1)
    for line in Path(__file__).with_name("fields.txt").read_text().splitlines()
)
# As in `tensorloom.protos`: "tensor", "serving.predict".
MODULES = sorted(
    ".".join(path.relative_to(FOLDER).with_suffix("").parts)
    for path in FOLDER.rglob("*.proto")
)
TYPES = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in descriptor_pb2.FieldDescriptorProto.Type.items()
}


def _module(name: str) -> Any:
    return importlib.import_module(f"tensorloom.protos.{name}_pb2")


def _short(full_name: str) -> str:
    return full_name.removeprefix("tensorflow.")


def _type(field: FieldDescriptor) -> str:
    if field.message_type is not None:
        return _short(field.message_type.full_name)
    if field.enum_type is not None:
        return _short(field.enum_type.full_name)
    return TYPES[field.type]


def _describe_field(field: FieldDescriptor) -> str:
    kind = _type(field)
    message = field.message_type
    if message is not None and message.GetOptions().map_entry:
        key, value = (message.fields_by_name[name] for name in ("key", "value"))
        kind = f"map<{_type(key)},{_type(value)}>"
    elif field.is_repeated:
        kind += "*"
    oneof = field.containing_oneof
    group = f"/{oneof.name}" if oneof is not None else ""
    return f"{field.name}={field.number}:{kind}{group}"


# What tensorloom's tasks tell each other beside TensorFlow's fields.
OWN_MESSAGES = ("SessionFence", "TaskInfo", "WaitingCollective")
OWN_FIELDS_FROM = 15000


def _describe(descriptor: Descriptor, found: dict[str, str]) -> None:
    known = [field for field in descriptor.fields if field.number < OWN_FIELDS_FROM]
    fields = sorted(known, key=lambda field: field.number)
    name = _short(descriptor.full_name)
    found[name] = "".join(f" {_describe_field(field)}" for field in fields)
    for nested in descriptor.nested_types:
        if not nested.GetOptions().map_entry:
            _describe(nested, found)
    for enum in descriptor.enum_types:
        _describe_enum(enum, found)


def _describe_enum(descriptor: EnumDescriptor, found: dict[str, str]) -> None:
    values = sorted(descriptor.values, key=lambda value: (value.number, value.name))
    name = f"enum {_short(descriptor.full_name)}"
    found[name] = "".join(f" {value.name}={value.number}" for value in values)


def test_messages_are_as_recorded() -> None:
    found: dict[str, str] = {}
    for name in MODULES:
        file = _module(name).DESCRIPTOR
        for descriptor in file.message_types_by_name.values():
            if descriptor.name not in OWN_MESSAGES:
                _describe(descriptor, found)
        for enum in file.enum_types_by_name.values():
            _describe_enum(enum, found)
    assert sorted(found) == sorted(RECORDED)
    for name, fields in found.items():
        assert fields.strip() == RECORDED[name].strip(), name


@pytest.mark.parametrize("name", MODULES)
def test_names_are_in_our_own_pool(name: str) -> None:
    # TensorFlow registers the same names in the default pool.
    file = _module(name).DESCRIPTOR
    assert file.name == f"tensorloom/protos/{name.replace('.', '/')}.proto"
    assert file.package.split(".")[0] in (
        *("tensorflow", "grpc", "inference"),
        "boosted_trees",  # the sketches of tf.contrib.boosted_trees
    )
    assert file.pool is POOL


@pytest.mark.parametrize("name", MODULES)
def test_modules_do_not_ask_for_a_protobuf_version(name: str) -> None:
    assert (
        "ValidateProtobufRuntimeVersion" not in Path(_module(name).__file__).read_text()
    )


def test_text_format_reads_what_it_writes() -> None:
    config = _module("config").ConfigProto()
    config.device_count["CPU"] = 2
    config.graph_options.optimizer_options.opt_level = -1
    config.gpu_options.allow_growth = True
    twin = type(config)()
    text_format.Parse(text_format.MessageToString(config), twin)
    assert twin == config
