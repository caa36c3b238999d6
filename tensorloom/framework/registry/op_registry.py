"""The op registry: every fact about an op in one `register_op` call.

An op is described once, in `ops/`, by its signature (in the notation of TensorFlow's
own op specifications), its shape function, its gradient and its documentation. The
client validates and infers with it, the master and the worker read it; what an op
computes stands in `kernels/`.

Signature notation::

    inputs   "a: T"   "values: N * T"   "args: Tin"   "ref: Ref(T)"   "x: int32"
    attrs    "T: type"   "T: {float, double} = DT_FLOAT"   "N: int >= 2"
             "strides: list(int) >= 4"   "padding: {'SAME', 'VALID'}"
             "shape: shape = unknown"   "name: string = ''"   "f: func"
"""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.export import declaring_module
from tensorloom.framework.registry import late_modules
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

# A shape function maps an InferenceContext to the shapes of the outputs: one
# TensorShape, or a sequence with one for each output.
ShapeFn = Callable[[Any], "TensorShape | Sequence[TensorShape]"]
# A gradient function maps (op, gradient of each output) to the inputs' gradients.
GradientFn = Callable[..., Any]


class _NotDifferentiable:
    """The explicit statement that an op has no gradient (its inputs get None)."""

    def __repr__(self) -> str:
        return "NOT_DIFFERENTIABLE"


NOT_DIFFERENTIABLE: Final = _NotDifferentiable()


@dataclass(frozen=True, slots=True)
class ArgDef:
    """One input or output argument of an op.

    Exactly one of `type`, `type_attr`, `type_list_attr` says what its dtype is.
    """

    name: str
    type: DType | None = None  # a fixed dtype
    type_attr: str = ""  # the attr that holds the dtype
    number_attr: str = ""  # the attr that holds how many tensors there are
    type_list_attr: str = ""  # the list(type) attr, one tensor for each entry
    is_ref: bool = False  # a reference edge: the op writes through it

    @property
    def is_list(self) -> bool:
        """True when the argument stands for a sequence of tensors."""
        return bool(self.number_attr or self.type_list_attr)


@dataclass(frozen=True, slots=True)
class AttrDef:
    """One attr of an op: its type, default and constraints."""

    name: str
    type: str  # "int", "type", "list(int)", ... as in OpDef.AttrDef.type
    has_default: bool = False
    default: Any = None  # the decoded default (see attr_value.py for the forms)
    minimum: int | None = None  # of an int, or of a list's length
    allowed: tuple[Any, ...] | None = None  # DTypes, or bytes for strings


@dataclass(slots=True, eq=False)
class OpDef:
    """An op: signature, properties, shape function and gradient."""

    name: str
    inputs: tuple[ArgDef, ...]
    outputs: tuple[ArgDef, ...]
    attrs: dict[str, AttrDef]
    shape_fn: ShapeFn | None
    gradient: GradientFn | _NotDifferentiable | None
    is_stateful: bool = False
    is_commutative: bool = False
    is_aggregate: bool = False
    allows_uninitialized_input: bool = False
    # Since which version of a graph there may be no such node any more, and what there
    # is instead.
    deprecated: tuple[int, str] | None = None
    doc: str = ""
    # What op_def_library precomputes for this op on its first use.
    plan: Any = field(default=None, repr=False)

    def removal_message(self, producer: int) -> str:
        """Why a graph of this version may have no such node; empty if it may."""
        if self.deprecated is None or producer < self.deprecated[0]:
            return ""
        version, instead = self.deprecated
        return (
            f"Op {self.name} is not available in GraphDef version {producer}. It has "
            f"been removed in version {version}. {instead}."
        )

    def input_types(self, attrs: dict[str, Any]) -> list[DType]:
        """The dtypes of the flattened inputs of a node with these attrs."""
        return _flat_types(self.inputs, attrs)

    def output_types(self, attrs: dict[str, Any]) -> list[DType]:
        """The dtypes of the flattened outputs of a node with these attrs."""
        return _flat_types(self.outputs, attrs)

    def fill_defaults(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """`attrs` with every absent attr that has a default added."""
        filled = dict(attrs)
        for attr in self.attrs.values():
            if attr.has_default and attr.name not in filled:
                filled[attr.name] = attr.default
        return filled

    def complete_attrs(
        self, attrs: dict[str, Any], input_types: Sequence[DType]
    ) -> dict[str, Any]:
        """`fill_defaults` with the dtype attrs that plain inputs tell added.

        Raises:
          ValueError: an attr is missing, or inputs contradict each other.
        """
        inferred: dict[str, DType] = {}
        for arg, dtype in zip(self.inputs, input_types, strict=False):
            if arg.is_list:
                break  # how many tensors it takes is in an attr
            name, dtype = arg.type_attr, dtype.base_dtype
            if name and name not in attrs and inferred.setdefault(name, dtype) != dtype:
                raise ValueError(
                    f"Inconsistent values for attr '{name}' of op {self.name}: "
                    f"{inferred[name].name} vs. {dtype.name}"
                )
        filled = self.fill_defaults({**inferred, **attrs})
        for name in self.attrs:
            if name not in filled:
                raise ValueError(f"NodeDef missing attr '{name}' from Op {self.name}")
        return filled


def _flat_types(args: tuple[ArgDef, ...], attrs: dict[str, Any]) -> list[DType]:
    types: list[DType] = []
    for arg in args:
        types.extend(arg_types(arg, attrs))
    return types


# Far more than any program has, and few enough to be told before memory is short.
_MOST_TENSORS: Final = 2**20


def arg_types(arg: ArgDef, attrs: dict[str, Any]) -> list[DType]:
    """The dtypes of the tensors that one argument stands for.

    Raises:
      ValueError: they are too many.
    """
    if arg.type_list_attr:
        return list(attrs[arg.type_list_attr])
    dtype: DType = arg.type if arg.type is not None else attrs[arg.type_attr]
    if arg.is_ref:
        dtype = dtype._as_ref
    if not arg.number_attr:
        return [dtype]
    count = attrs[arg.number_attr]
    if count > _MOST_TENSORS:
        raise ValueError(
            f"Attr {arg.number_attr} has value {count} out of range for an int32"
        )
    return [dtype] * count


class _Unread:
    """A registration whose signature strings nobody has needed yet.

    Reading them takes a fifth of importing the package, and a program uses few ops.
    """

    __slots__ = ("fields", "signature")

    def __init__(
        self, signature: tuple[Sequence[str], ...], fields: dict[str, Any]
    ) -> None:
        self.signature = signature  # inputs, outputs, attrs
        self.fields = fields  # the OpDef's other fields

    def read(self) -> OpDef:
        """The op.

        Raises:
          ValueError: a signature string is bad.
        """
        inputs, outputs, attrs = self.signature
        attr_defs = {a.name: a for a in map(parse_attr, attrs)}
        return OpDef(
            inputs=tuple(parse_arg(s, attr_defs) for s in inputs),
            outputs=tuple(parse_arg(s, attr_defs) for s in outputs),
            attrs=attr_defs,
            **self.fields,
        )


@dataclass(slots=True)
class _EarlierName:
    """An op that is another one under the name that older graphs have."""

    name: str
    op: str
    shape_fn: ShapeFn | None

    def read(self) -> OpDef:
        """The op.

        Raises:
          ValueError: there is no op of the newer name.
        """
        op = find(self.op)
        if op is None:
            raise ValueError(f"{self.name} is another name of {self.op}: no such op")
        shape_fn, doc = self.shape_fn or op.shape_fn, f"The earlier name of {self.op}."
        return replace(op, name=self.name, shape_fn=shape_fn, doc=doc, plan=None)


_REGISTRY: dict[str, OpDef | _Unread | _EarlierName] = {}
_REGISTERED_BY: dict[str, str] = {}


def places() -> dict[str, str]:
    """The module that registered each op, of those that are loaded."""
    return dict(_REGISTERED_BY)


def register_op(
    name: str,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    attrs: Sequence[str] = (),
    shape_fn: ShapeFn | None = None,
    gradient: GradientFn | _NotDifferentiable | None = None,
    stateful: bool = False,
    commutative: bool = False,
    aggregate: bool = False,
    allows_uninitialized_input: bool = False,
    deprecated: tuple[int, str] | None = None,
    doc: str = "",
) -> None:
    """Registers an op. Its signature is read when the op is looked up first.

    Args:
      name: the op type, CamelCase as in TensorFlow.
      inputs, outputs, attrs: signature strings, see the module's docstring.
      shape_fn: called with an InferenceContext; None means unknown output shapes.
      gradient: a gradient function, NOT_DIFFERENTIABLE, or None (asking for the
        gradient is then an error).
      deprecated: the version of a graph since which the op is gone, and what is there
        instead.
      doc: one sentence or more; the first line stands in the compatibility table.

    Raises:
      ValueError: the name is registered already.
    """
    _begin(name)
    _REGISTRY[name] = _Unread(
        (inputs, outputs, attrs),
        {
            "name": name,
            "shape_fn": shape_fn,
            "gradient": gradient,
            "is_stateful": stateful,
            "is_commutative": commutative,
            "is_aggregate": aggregate,
            "allows_uninitialized_input": allows_uninitialized_input,
            "deprecated": deprecated,
            "doc": doc,
        },
    )


def register_earlier_name(
    name: str, op: str, *, shape_fn: ShapeFn | None = None
) -> None:
    """Registers the name that an op had in older graphs.

    Args:
      name: the earlier op type.
      op: the op type of today; it may be registered later.
      shape_fn: where it differs.

    Raises:
      ValueError: the earlier name is registered already.
    """
    _begin(name)
    _REGISTRY[name] = _EarlierName(name, op, shape_fn)


def _begin(name: str) -> None:
    module = declaring_module()
    if late_modules.module_of("op", name) not in (None, module):
        late_modules.load("op", name)
    if name in _REGISTRY:
        raise ValueError(f"op '{name}' is registered already")
    _REGISTERED_BY[name] = module


def find(name: str) -> OpDef | None:
    """The registered op, or None.

    Raises:
      ValueError: a signature string of it is bad.
    """
    found = _REGISTRY.get(name)
    if found is None:
        late_modules.load("op", name)
        found = _REGISTRY.get(name)
    if isinstance(found, (_Unread, _EarlierName)):
        op_def = _REGISTRY[name] = found.read()
        return op_def
    return found


def registered_ops() -> dict[str, OpDef]:
    """All ops by name, in the order of their registration. Loads all of them."""
    late_modules.load_all("op")
    ops = {name: find(name) for name in _REGISTRY}
    return {name: op for name, op in ops.items() if op is not None}


# --- signature strings ------------------------------------------------------

_ARG = re.compile(r"^\s*(\w+)\s*:\s*(?:(\w+)\s*\*\s*)?(Ref\()?(\w+)\)?\s*$")
_ATTR = re.compile(r"^\s*(\w+)\s*:\s*(.*)$", re.DOTALL)
_SCALAR_ATTR_TYPES = frozenset(
    ["int", "float", "string", "bool", "type", "shape", "tensor", "func"]
)


def parse_arg(spec: str, attrs: dict[str, AttrDef]) -> ArgDef:
    """Parses one input or output signature string, e.g. "values: N * T".

    Raises:
      ValueError: it is malformed.
    """
    match = _ARG.match(spec)
    if match is None:
        raise ValueError(f"bad argument signature '{spec}'")
    name, number, ref, kind = match.groups()
    attr = attrs.get(kind)
    if attr is None:
        return ArgDef(name, dtypes.as_dtype(kind), "", number or "", "", bool(ref))
    if attr.type == "list(type)":
        return ArgDef(name, None, "", "", kind, bool(ref))
    return ArgDef(name, None, kind, number or "", "", bool(ref))


def parse_attr(spec: str) -> AttrDef:
    """Parses one attr signature string, e.g. "T: {float, double} = DT_FLOAT"."""
    match = _ATTR.match(spec)
    if match is None:
        raise ValueError(f"bad attr signature '{spec}'")
    name, rest = match.groups()
    kind, has_default, default_text = _split_default(rest)
    minimum: int | None = None
    if ">=" in kind:
        kind, minimum_text = kind.split(">=")
        minimum = int(minimum_text)
    kind, allowed = _parse_kind(kind.strip())
    default = _parse_default(kind, default_text) if has_default else None
    return AttrDef(name, kind, has_default, default, minimum, allowed)


def _split_default(rest: str) -> tuple[str, bool, str]:
    index = re.search(r"(?<!>)=", rest)
    if index is None:
        return rest, False, ""
    return rest[: index.start()], True, rest[index.end() :].strip()


def _parse_kind(kind: str) -> tuple[str, tuple[Any, ...] | None]:
    is_list = kind.startswith("list(")
    inner = kind[5:-1].strip() if is_list else kind
    allowed: tuple[Any, ...] | None = None
    if inner.startswith("{"):
        words = [w.strip() for w in inner.strip("{}").split(",") if w.strip()]
        if words and words[0][0] in "'\"":
            allowed, inner = tuple(w.strip("'\"").encode() for w in words), "string"
        else:
            allowed, inner = tuple(dtypes.as_dtype(w) for w in words), "type"
    if inner not in _SCALAR_ATTR_TYPES:
        raise ValueError(f"unknown attr type '{kind}'")
    return (f"list({inner})" if is_list else inner), allowed


def _parse_default(kind: str, text: str) -> Any:
    if kind.startswith("list("):
        inner = kind[5:-1]
        body = text.strip()[1:-1].strip()
        if inner in ("type", "tensor"):
            return [_parse_default(inner, w) for w in body.split(",") if w.strip()]
        values = ast.literal_eval(f"[{_pythonic(body)}]")
        return [_decode_literal(inner, v) for v in values]
    if kind == "type":
        word = text.strip()
        return dtypes.as_dtype(word[3:].lower() if word.startswith("DT_") else word)
    if kind == "shape" and text.strip() == "unknown":
        return TensorShape.of(None)
    if kind == "tensor":  # such as uint8[255, 0], or int32(1), a scalar
        word, bracket, body = re.split(r"([\[(])", text.strip(), maxsplit=1)
        numpy_type = dtypes.as_dtype(word).as_numpy_dtype
        return np.array(ast.literal_eval(bracket + body), numpy_type)
    return _decode_literal(kind, ast.literal_eval(_pythonic(text)))


def _pythonic(text: str) -> str:
    return re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", text))


def _decode_literal(kind: str, value: Any) -> Any:
    if kind == "string":
        return value.encode() if isinstance(value, str) else value
    if kind == "shape":
        return TensorShape.of(tuple(value))
    if kind == "float":
        return _float32(value)  # as it is in an AttrValue
    return value


def _float32(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])
