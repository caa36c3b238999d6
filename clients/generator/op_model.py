"""The registry's operations as templates of wrappers see them.

An attribute that follows from an input's dtype or length is no parameter: the library
infers it. Of the others, those without a default are required.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import tensorloom as tf
from tensorloom.framework.registry import op_registry


@dataclass(frozen=True)
class Arg:
    """An input or output: one tensor, or a list of them.

    The dtype is that of the attribute `type_attr`, or fixed as `dtype`, or neither in a
    list of several.
    """

    name: str
    is_list: bool
    type_attr: str = ""
    dtype: str = ""


@dataclass(frozen=True)
class Attr:
    """An attribute that a caller gives; `kind` is that of an OpDef, as "list(int)"."""

    name: str
    kind: str
    default: Any = None

    @property
    def element(self) -> str:
        """The kind of one element."""
        return self.kind.removeprefix("list(").removesuffix(")")

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return self.kind.startswith("list(")


@dataclass(frozen=True)
class Op:
    """One operation."""

    name: str
    inputs: list[Arg]
    outputs: list[Arg]
    required: list[Attr]
    optional: list[Attr]


def camel(name: str, *, upper: bool) -> str:
    """`out_type` as OutType or outType."""
    words = [word for word in re.split(r"[_.]", name) if word]
    text = "".join(word[0].upper() + word[1:] for word in words)
    return text if upper else text[0].lower() + text[1:]


def snake(name: str) -> str:
    """`MatMul` as mat_mul, `Conv2DBackpropInput` as conv2d_backprop_input."""
    text = re.sub(r"([a-z])([A-Z])|([0-9])([A-Z][a-z])", r"\1\3_\2\4", name)
    text = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", text)
    return text.lower()


def _arg(arg: Any) -> Arg:
    is_list = bool(arg.number_attr or arg.type_list_attr)
    return Arg(arg.name, is_list, arg.type_attr, arg.type.name if arg.type else "")


def _op(op_def: Any) -> Op:
    inferred = set()
    for arg in op_def.inputs:
        inferred |= {arg.type_attr, arg.number_attr, arg.type_list_attr}
    attrs = [attr for attr in op_def.attrs.values() if attr.name not in inferred]
    return Op(
        op_def.name,
        [_arg(arg) for arg in op_def.inputs],
        [_arg(arg) for arg in op_def.outputs],
        [Attr(attr.name, attr.type) for attr in attrs if not attr.has_default],
        [Attr(a.name, a.type, a.default) for a in attrs if a.has_default],
    )


def all_ops() -> list[Op]:
    """Every public operation, by name. Const is written by hand in each language."""
    assert tf.raw_ops, "the ops are registered when the package is imported"
    registered = op_registry.registered_ops()
    return [
        _op(op_def)
        for name, op_def in sorted(registered.items())
        if not name.startswith("_") and name != "Const" and ">" not in name
    ]
