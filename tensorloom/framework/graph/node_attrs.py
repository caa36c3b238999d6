"""Checks the attrs of a node against the definition of its op."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.errors import NotFoundError, invalid_argument
from tensorloom.framework.registry import newer_attrs
from tensorloom.framework.types import attr_value, dtypes
from tensorloom.framework.types.attr_value import AttrPlaceholder, NameAttrList
from tensorloom.framework.types.dtypes import DType
from tensorloom.framework.types.message_tensor import MessageTensor
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import AttrDef, OpDef
    from tensorloom.protos import node_def_pb2

_TYPE_ATTRS: Final[dict[str, type]] = {"type": DType, "int": int}

# A node with more inputs or outputs in one argument than this is not meant: a few
# bytes of an attr must not become a list of any length.
MAX_TENSORS: Final = 2**16

_CLASSES: Final[dict[str, tuple[type, ...]]] = {
    "string": (bytes,),
    "int": (int,),
    "float": (float,),
    "bool": (bool,),
    "type": (DType,),
    "shape": (TensorShape,),
    "tensor": (np.ndarray, MessageTensor),
    "func": (NameAttrList,),
}
#: The types that attrs have.
KINDS: Final = frozenset([*_CLASSES, *(f"list({kind})" for kind in _CLASSES)])


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
                    check_attr(unbounded, attrs[name])
            elif attr.has_default:
                attrs[name] = attr.default
            else:
                raise NotFoundError(None, None, f"NodeDef missing attr '{name}'")
            if attr.type == "int" and attrs[name] > MAX_TENSORS:
                _check_count(op_def, name, attrs[name])
    return attrs


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
            check_attr(attr, value)
            if attr.type == "int" and value > MAX_TENSORS:
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


def check_constant(attrs: dict[str, Any]) -> None:
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


def check_attr(attr: AttrDef, value: Any) -> None:
    """Checks a decoded attr against its definition.

    Raises:
        InvalidArgumentError: it is of a wrong kind, not allowed, or too small.
    """
    if isinstance(value, AttrPlaceholder):
        raise invalid_argument(
            f"Attr '{attr.name}' is a placeholder for attr '{value.name}' of a "
            "function, whose body alone can have it"
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
