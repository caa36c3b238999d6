"""Reads `NodeDef`s as `Node`s; what equal nodes share is decoded once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import InvalidArgumentError, invalid_argument
from tensorloom.framework.graph.graph_ir import Node
from tensorloom.framework.graph.node_attrs import (
    check_attr,
    check_constant,
    complete_attrs,
)
from tensorloom.framework.registry.op_def_proto import summarize
from tensorloom.framework.types import attr_value
from tensorloom.framework.types.dtype_words import dtype_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tensorloom.framework.registry.op_registry import OpDef
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.protos import node_def_pb2

# Constants of no more bytes than this are mostly axes, sizes and factors, of which the
# same come again and again.
_FEW_BYTES = 128
# Messages of more bytes than this are mostly those of large constants.
_MOST_BYTES = 1024
# Of the fields before the attrs: name, op, inputs and device.
_HEAD_TAGS = b"\x0a\x12\x1a\x22"


class NodeReader:
    """Reads nodes of one graph; what nodes of an op have in common is decoded once.

    Graphs have thousands of nodes of a few kinds: those with equal attrs differ in
    nothing but names, and large constants in their value.
    """

    def __init__(self) -> None:
        # By op and bytes of the attrs that nodes can share.
        self._known: dict[Any, _Common] = {}
        # By op and the attrs as they stand in the message, if all can be shared.
        self._by_bytes: dict[tuple[OpDef, bytes], _Common] = {}

    def read(
        self,
        proto: node_def_pb2.NodeDef,
        op_def: OpDef,
        inputs: tuple[tuple[str, int], ...],
        control_inputs: tuple[str, ...],
    ) -> tuple[Node, list[DType]]:
        """The node in a message, and the dtypes of its inputs.

        Args:
            inputs, control_inputs: those of the message, as `split_inputs` reads them.

        Raises:
            InvalidArgumentError: an attr is malformed, missing, unknown or not allowed,
                or there are too few or too many inputs.
        """
        data = _attr_bytes(proto)
        known = None if data is None else self._by_bytes.get((op_def, data))
        own: dict[str, Any] = {}
        if known is None:
            key = _divide(proto, op_def, data is None, own)
            known = self._known.get(key)
            if known is None or (op_def.name == "Const" and "value" not in proto.attr):
                node, input_types = _decode(proto, op_def, inputs, control_inputs)
                self._known[key] = _Common.of(node, input_types, own)
                return node, input_types
            if data is not None and not own:
                self._by_bytes[op_def, data] = known
        attrs = known.attrs.copy()
        for name in known.lists:
            attrs[name] = attrs[name][:]
        if own:
            _add_own(attrs, own, proto, op_def)
        if len(known.input_types) != len(inputs):
            _check_input_count(proto, op_def, known.input_types, inputs)
        node = Node(
            proto.name,
            proto.op,
            inputs,
            control_inputs,
            proto.device,
            attrs,
            known.output_types,
        )
        return node, known.input_types


@dataclass(slots=True, eq=False)
class _Common:
    """What nodes have in common whose attrs are the same."""

    attrs: dict[str, Any]
    lists: tuple[str, ...]  # the attrs that are lists: each node has its own
    output_types: tuple[DType, ...]
    input_types: list[DType]

    @classmethod
    def of(
        cls, node: Node, input_types: list[DType], own: Mapping[str, Any]
    ) -> _Common:
        """What a node has without its own attrs."""
        attrs = {k: v for k, v in node.attrs.items() if k not in own}
        lists = tuple([k for k, v in attrs.items() if type(v) is list])
        return cls(attrs, lists, node.output_types, input_types)


def _decode(
    proto: node_def_pb2.NodeDef,
    op_def: OpDef,
    inputs: tuple[tuple[str, int], ...],
    control_inputs: tuple[str, ...],
) -> tuple[Node, list[DType]]:
    """As `NodeReader.read`, of a node that is like none before."""
    try:
        attrs = attr_value.attrs_from_proto(proto.attr)
        attrs = complete_attrs(op_def, attrs)
        output_types = op_def.output_types(attrs)
        input_types = op_def.input_types(attrs)
        if op_def.name == "Const":
            check_constant(attrs)
    except InvalidArgumentError as error:
        raise _at_node(error.message, proto, op_def) from None
    _check_input_count(proto, op_def, input_types, inputs)
    node = Node(
        proto.name,
        proto.op,
        inputs,
        control_inputs,
        proto.device,
        attrs,
        tuple(output_types),
    )
    return node, input_types


def _attr_bytes(proto: node_def_pb2.NodeDef) -> bytes | None:
    """The end of a message, where its attrs stand. None if the message is long."""
    data = proto.SerializeToString()
    at, end = 0, len(data)
    if end > _MOST_BYTES:
        return None
    while at < end and data[at] in _HEAD_TAGS:
        size = data[at + 1]
        if size > 0x7F:  # the length has two bytes, as the message is short
            size = (size & 0x7F | data[at + 2] << 7) + 1
        at += 2 + size
    return data[at:]


def _divide(
    proto: node_def_pb2.NodeDef, op_def: OpDef, is_long: bool, own: dict[str, Any]
) -> tuple[Any, ...]:
    """Adds the attrs that nodes do not share to `own`; a key of the others."""
    kind: list[Any] = []
    is_constant, attr = op_def.name == "Const", proto.attr
    for name in attr:
        value = attr[name]
        if name[:1] == "_" or (
            is_constant
            and name == "value"
            and (is_long or value.ByteSize() > _FEW_BYTES)
        ):
            own[name] = value
        else:
            kind.append((name, value.SerializeToString()))
    # The order in which a map is read is that of its hashes, not of the file.
    return (op_def, *sorted(kind))


def _add_own(
    attrs: dict[str, Any],
    own: Mapping[str, Any],
    proto: node_def_pb2.NodeDef,
    op_def: OpDef,
) -> None:
    """Decodes attrs and adds them to those of the node.

    Raises:
        InvalidArgumentError: one is malformed.
    """
    try:
        attrs.update(attr_value.attrs_from_proto(own))
        if "value" in own:
            check_attr(op_def.attrs["value"], attrs["value"])
            check_constant(attrs)
    except InvalidArgumentError as error:
        raise _at_node(error.message, proto, op_def) from None


def _check_input_count(
    proto: node_def_pb2.NodeDef,
    op_def: OpDef,
    input_types: Sequence[DType],
    inputs: Sequence[tuple[str, int]],
) -> None:
    if len(input_types) != len(inputs):
        expected = ", ".join(map(dtype_word, input_types[:16]))
        expected += ", ..." if len(input_types) > 16 else ""
        raise _at_node(
            f"NodeDef expected inputs '{expected}' do not match {len(inputs)} inputs "
            "specified",
            proto,
            op_def,
        )


def _at_node(
    message: str, proto: node_def_pb2.NodeDef, op_def: OpDef
) -> InvalidArgumentError:
    return invalid_argument(f"{message}; NodeDef: {proto.name}; {summarize(op_def)}")
