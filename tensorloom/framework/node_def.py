"""`Node` to the `NodeDef` proto and back, with the checks that a node needs alone.

What a NodeDef says is compared with the op's definition here: its attrs are decoded,
checked and completed by defaults. How it connects to others is the graph's matter
(`graph_def.py`, `function_def.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import attr_value, dtypes, newer_attrs, op_registry
from tensorloom.framework.attr_value import AttrPlaceholder, NameAttrList
from tensorloom.framework.dtypes import DType
from tensorloom.framework.errors import (
    InvalidArgumentError,
    NotFoundError,
    invalid_argument,
)
from tensorloom.framework.function_problem import FunctionProblem
from tensorloom.framework.graph_ir import Node
from tensorloom.framework.op_def_proto import summarize
from tensorloom.framework.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.op_registry import AttrDef, OpDef
    from tensorloom.protos import node_def_pb2

#: Definitions of functions by name; where one's arguments cannot be told, why.
Signatures = Mapping[str, "OpDef | FunctionProblem"]
_TYPE_ATTRS: Final[dict[str, type]] = {"type": DType, "int": int}
#: How an input is written: (producer, output index) -> text.
InputName = Callable[[str, int], str]

_NAME: Final = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\-/>]*")
# Nodes that the runtime adds may begin with an underscore.
_INTERNAL_NAME: Final = re.compile(r"[A-Za-z0-9._][A-Za-z0-9_.\-/>]*")

# A node with more inputs or outputs in one argument than this is not meant: a few
# bytes of an attr must not become a list of any length.
_MAX_TENSORS: Final = 2**16

_CLASSES: Final[dict[str, tuple[type, ...]]] = {
    "string": (bytes,),
    "int": (int,),
    "float": (float,),
    "bool": (bool,),
    "type": (DType,),
    "shape": (TensorShape,),
    "tensor": (np.ndarray,),
    "func": (NameAttrList,),
}


# Writing --------------------------------------------------------------------------


def tensor_name(producer: str, index: int) -> str:
    """`node` for the first output of a node, `node:1` for the next."""
    return f"{producer}:{index}" if index else producer


def to_proto(node: Node, input_name: InputName = tensor_name) -> node_def_pb2.NodeDef:
    """The node as a message, control inputs in the order in which they were given."""
    from tensorloom.protos.node_def_pb2 import NodeDef

    proto = NodeDef()
    fill(proto, node, input_name, sort_controls=False)
    return proto


def fill(
    proto: node_def_pb2.NodeDef,
    node: Node,
    input_name: InputName = tensor_name,
    sort_controls: bool = True,
) -> None:
    """Fills an empty message with the node.

    Control inputs are sorted, so that equal graphs are equal messages.
    """
    proto.name = node.name
    proto.op = node.op
    proto.device = node.device
    inputs = proto.input
    inputs.extend([input_name(producer, index) for producer, index in node.inputs])
    controls = sorted(node.control_inputs) if sort_controls else node.control_inputs
    inputs.extend([f"^{name}" for name in controls])
    attrs = proto.attr
    added = newer_attrs.ADDED.get(node.op, ())
    for name, value in node.attrs.items():
        if name.startswith("_") and name[1:] in newer_attrs.KEPT:
            name = name[1:]
        if not (name in added and newer_attrs.is_default(node.op, name, value)):
            attr_value.encode_into(attrs[name], value)


# Reading --------------------------------------------------------------------------


def parse_input(text: str) -> tuple[str, int]:
    """(producer, output index) of a data input; (name, -1) of a control input."""
    if text.startswith("^"):
        return text[1:], -1
    name, colon, index = text.rpartition(":")
    if colon and index.isascii() and index.isdigit():
        return name, int(index)
    return text, 0


def split_inputs(
    texts: Sequence[str], node: str
) -> tuple[tuple[tuple[str, int], ...], tuple[str, ...]]:
    """Data inputs and control inputs of a node.

    Raises:
        InvalidArgumentError: a data input follows a control input.
    """
    inputs: list[tuple[str, int]] = []
    controls: list[str] = []
    for text in texts:
        # Most are a name alone.
        is_name = ":" not in text and text[:1] != "^"
        name, index = (text, 0) if is_name else parse_input(text)
        if index < 0:
            controls.append(name)
        elif controls:
            raise invalid_argument(
                f"Node '{node}': Control dependencies must come after regular "
                "dependencies"
            )
        else:
            inputs.append((name, index))
    return tuple(inputs), tuple(controls)


def find_op(name: str, functions: Signatures) -> OpDef:
    """The definition of an op or, first, of a function of that name.

    Raises:
        NotFoundError: there is none.
        InvalidArgumentError, NotFoundError: the function's signature is wrong.
    """
    op_def = functions.get(name) or op_registry.find(name)
    if isinstance(op_def, FunctionProblem):
        raise op_def.error()
    if op_def is None:
        raise NotFoundError(
            None,
            None,
            f"Op type not registered '{name}' in this process. A custom op must be "
            "registered, and a function be in the graph's library, before the graph "
            "is read.",
        )
    return op_def


def check_name(name: str, internal: bool = False) -> None:
    """Raises InvalidArgumentError unless the text is a node's name."""
    if not (_INTERNAL_NAME if internal else _NAME).fullmatch(name):
        raise invalid_argument(f"Node '{name}': Node name contains invalid characters")


def from_proto(
    proto: node_def_pb2.NodeDef,
    op_def: OpDef,
    inputs: tuple[tuple[str, int], ...],
    control_inputs: tuple[str, ...],
) -> Node:
    """The node in a message; its inputs have been parsed by the caller.

    Raises:
        InvalidArgumentError: an attr is malformed, missing, unknown or out of bounds,
            or there are too few or too many inputs.
    """
    return _read(proto, op_def, inputs, control_inputs)[0]


def _read(
    proto: node_def_pb2.NodeDef,
    op_def: OpDef,
    inputs: tuple[tuple[str, int], ...],
    control_inputs: tuple[str, ...],
) -> tuple[Node, list[DType]]:
    try:
        attrs = attr_value.attrs_from_proto(proto.attr)
        attrs = complete_attrs(op_def, attrs)
        output_types = op_def.output_types(attrs)
        input_types = op_def.input_types(attrs)
        if op_def.name == "Const":
            _check_constant(attrs)
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


def types_alone(
    proto: node_def_pb2.NodeDef, op_def: OpDef, input_count: int
) -> tuple[list[DType], list[DType]]:
    """Dtypes of inputs and outputs of a node whose other attrs may be wrong.

    Raises:
        NotFoundError, InvalidArgumentError: as `type_attrs`.
        InvalidArgumentError: there are too few or too many inputs.
    """
    attrs = type_attrs(proto, op_def)
    input_types = op_def.input_types(attrs)
    if len(input_types) != input_count:
        raise invalid_argument(
            f"{len(input_types)} inputs are expected, not {input_count}"
        )
    return input_types, op_def.output_types(attrs)


def type_attrs(proto: node_def_pb2.NodeDef, op_def: OpDef) -> dict[str, Any]:
    """The attrs that say dtypes and numbers of tensors.

    Raises:
        NotFoundError: one is missing.
        InvalidArgumentError: one is malformed.
    """
    attrs: dict[str, Any] = {}
    for arg in (*op_def.inputs, *op_def.outputs):
        for name in filter(None, (arg.type_attr, arg.number_attr, arg.type_list_attr)):
            attr = op_def.attrs[name]
            if name in proto.attr:
                attrs[name] = attr_value.from_proto(proto.attr[name])
                if type(attrs[name]) is not _TYPE_ATTRS.get(attr.type):
                    unbounded = replace(attr, allowed=None, minimum=None)
                    _check_attr(unbounded, attrs[name])
            elif attr.has_default:
                attrs[name] = attr.default
            else:
                raise NotFoundError(None, None, f"NodeDef missing attr '{name}'")
            if attr.type == "int" and attrs[name] > _MAX_TENSORS:
                _check_count(op_def, name, attrs[name])
    return attrs


def _check_input_count(
    proto: node_def_pb2.NodeDef,
    op_def: OpDef,
    input_types: Sequence[DType],
    inputs: Sequence[tuple[str, int]],
) -> None:
    if len(input_types) != len(inputs):
        expected = ", ".join(dtype.name for dtype in input_types[:16])
        expected += ", ..." if len(input_types) > 16 else ""
        raise _at_node(
            f"NodeDef expected inputs '{expected}' do not match {len(inputs)} inputs "
            "specified",
            proto,
            op_def,
        )


def _at_node(message: str, proto: Any, op_def: OpDef) -> InvalidArgumentError:
    return invalid_argument(f"{message}; NodeDef: {proto.name}; {summarize(op_def)}")


def complete_attrs(op_def: OpDef, attrs: dict[str, Any]) -> dict[str, Any]:
    """Checked attrs of a node of this op, with defaults for the absent ones.

    Attrs that begin with an underscore are never the op's and always legal.

    Raises:
        InvalidArgumentError: one is missing, unknown, of a wrong kind, or not allowed.
    """
    for name, value in attrs.items():
        if name in op_def.attrs or name.startswith("_") or name in newer_attrs.KEPT:
            continue
        if not newer_attrs.is_default(op_def.name, name, value):
            raise invalid_argument(
                f"NodeDef mentions attr '{name}' not in the op. (Check whether the "
                "graph was made by a newer version than reads it.)"
            )
    complete = {}
    for attr in op_def.attrs.values():
        if attr.name in attrs:
            value = attrs[attr.name]
            _check_attr(attr, value)
            if attr.type == "int" and value > _MAX_TENSORS:
                _check_count(op_def, attr.name, value)
            complete[attr.name] = value
        elif attr.has_default:
            complete[attr.name] = attr.default
        else:
            raise invalid_argument(f"NodeDef missing attr '{attr.name}'")
    for name, value in attrs.items():
        if name.startswith("_"):
            complete.setdefault(name, value)
        elif name in newer_attrs.KEPT and not newer_attrs.is_default(
            op_def.name, name, value
        ):
            complete[f"_{name}"] = value
    return complete


def _check_constant(attrs: dict[str, Any]) -> None:
    """Raises InvalidArgumentError when a Const's value is not of its dtype."""
    said, found = attrs["dtype"], dtypes.as_dtype(attrs["value"].dtype)
    if said != found:
        raise invalid_argument(
            f"Cannot parse tensor from proto: it is {found.name}, and the node's dtype "
            f"is {said.name}"
        )


def _check_count(op_def: OpDef, name: str, value: int) -> None:
    if any(arg.number_attr == name for arg in (*op_def.inputs, *op_def.outputs)):
        raise invalid_argument(
            f"Value for attr '{name}' of {value} is too large for a number of tensors"
        )


def _check_attr(attr: AttrDef, value: Any) -> None:
    if isinstance(value, AttrPlaceholder):
        raise invalid_argument(
            f"Attr '{attr.name}' is a placeholder for attr '{value.name}' of a "
            "function; functions with attrs cannot be read"
        )
    if attr.type.startswith("list("):
        _check_list(attr, value)
        return
    _check_kind(attr, attr.type, value)
    _check_allowed(attr, value)
    if attr.type == "int" and attr.minimum is not None and value < attr.minimum:
        raise invalid_argument(
            f"Value for attr '{attr.name}' of {value} must be at least minimum "
            f"{attr.minimum}"
        )


def _check_list(attr: AttrDef, value: Any) -> None:
    if not isinstance(value, list):
        raise invalid_argument(
            f"AttrValue had value with type '{_kind_of(value)}' when '{attr.type}' "
            f"expected for attr '{attr.name}'"
        )
    if attr.minimum is not None and len(value) < attr.minimum:
        raise invalid_argument(
            f"Length for attr '{attr.name}' of {len(value)} must be at least minimum "
            f"{attr.minimum}"
        )
    kind = attr.type[5:-1]
    for item in value:
        _check_kind(attr, kind, item)
        _check_allowed(attr, item)


def _check_kind(attr: AttrDef, kind: str, value: Any) -> None:
    # bool is a subclass of int, but not what an int attr takes.
    if type(value) in _CLASSES[kind] or (
        kind != "int" and isinstance(value, _CLASSES[kind])
    ):
        return
    if value is None:
        raise invalid_argument(
            f"AttrValue missing value with expected type '{attr.type}' for attr "
            f"'{attr.name}'"
        )
    raise invalid_argument(
        f"AttrValue had value with type '{_kind_of(value)}' when '{kind}' expected for "
        f"attr '{attr.name}'"
    )


def _kind_of(value: Any) -> str:
    if isinstance(value, list):
        return f"list({_kind_of(value[0])})" if value else "list"
    kinds = [kind for kind, classes in _CLASSES.items() if type(value) in classes]
    return kinds[0] if kinds else type(value).__name__


def _check_allowed(attr: AttrDef, value: Any) -> None:
    if attr.allowed is None or value in attr.allowed:
        return
    if isinstance(value, DType):
        got, choices = value.name, ", ".join(dtype.name for dtype in attr.allowed)
    else:
        got = f'"{value.decode(errors="replace")}"'
        choices = ", ".join(f'"{choice.decode()}"' for choice in attr.allowed)
    raise invalid_argument(
        f"Value for attr '{attr.name}' of {got} is not in the list of allowed values: "
        f"{choices}"
    )
