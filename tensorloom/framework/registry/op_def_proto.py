"""`OpDef` of the registry to the `OpDef` proto and back.

The proto carries the signature; shape function, gradient and kernels stay with the
registry, so an OpDef read from a proto has none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.registry.op_registry import ArgDef, AttrDef, OpDef
from tensorloom.framework.types import attr_value
from tensorloom.framework.types.dtypes import DType, as_dtype

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tensorloom.protos import op_def_pb2


def to_proto(op_def: OpDef) -> op_def_pb2.OpDef:
    """The signature as a message."""
    from tensorloom.protos.op_def_pb2 import OpDef as OpDefProto

    proto = OpDefProto(
        name=op_def.name,
        is_stateful=op_def.is_stateful,
        is_commutative=op_def.is_commutative,
        is_aggregate=op_def.is_aggregate,
        allows_uninitialized_input=op_def.allows_uninitialized_input,
    )
    for arg in op_def.inputs:
        _fill_arg(proto.input_arg.add(), arg)
    for arg in op_def.outputs:
        _fill_arg(proto.output_arg.add(), arg)
    for attr in op_def.attrs.values():
        _fill_attr(proto.attr.add(), attr)
    if op_def.deprecated:
        version, explanation = op_def.deprecated
        proto.deprecation.version = version
        proto.deprecation.explanation = explanation
    return proto


def to_op_list(op_defs: Iterable[OpDef]) -> op_def_pb2.OpList:
    """Signatures as an `OpList`, sorted by name."""
    from tensorloom.protos.op_def_pb2 import OpList

    ordered = sorted(op_defs, key=lambda op_def: op_def.name)
    return OpList(op=[to_proto(op_def) for op_def in ordered])


def _fill_arg(proto: Any, arg: ArgDef) -> None:
    proto.name = arg.name
    if arg.type is not None:
        proto.type = arg.type.as_datatype_enum
    proto.type_attr = arg.type_attr
    proto.number_attr = arg.number_attr
    proto.type_list_attr = arg.type_list_attr
    proto.is_ref = arg.is_ref


def _fill_attr(proto: Any, attr: AttrDef) -> None:
    proto.name = attr.name
    proto.type = attr.type
    if attr.has_default:
        attr_value.encode_into(proto.default_value, attr.default)
    if attr.minimum is not None:
        proto.has_minimum = True
        proto.minimum = attr.minimum
    if attr.allowed is not None:
        attr_value.encode_into(proto.allowed_values, list(attr.allowed))


def from_proto(proto: op_def_pb2.OpDef) -> OpDef:
    """The signature in a message, without shape function and gradient.

    Raises:
        InvalidArgumentError: a dtype or a default value is malformed.
    """
    return OpDef(
        name=proto.name,
        inputs=tuple(arg_from_proto(arg) for arg in proto.input_arg),
        outputs=tuple(arg_from_proto(arg) for arg in proto.output_arg),
        attrs={attr.name: _attr(attr) for attr in proto.attr},
        shape_fn=None,
        gradient=None,
        is_stateful=proto.is_stateful,
        is_commutative=proto.is_commutative,
        is_aggregate=proto.is_aggregate,
        allows_uninitialized_input=proto.allows_uninitialized_input,
        deprecated=_deprecation(proto),
        doc=proto.summary,
    )


def _deprecation(proto: op_def_pb2.OpDef) -> tuple[int, str] | None:
    if not proto.HasField("deprecation"):
        return None
    return proto.deprecation.version, proto.deprecation.explanation


def arg_from_proto(proto: op_def_pb2.OpDef.ArgDef) -> ArgDef:
    """An argument of a signature.

    Raises:
        InvalidArgumentError: its dtype is none.
    """
    dtype: DType | None = None
    if proto.type:
        try:
            dtype = as_dtype(int(proto.type))
        except TypeError:
            raise InvalidArgumentError(
                None, None, f"Argument '{proto.name}': unknown data type {proto.type}"
            ) from None
    return ArgDef(
        proto.name,
        dtype,
        proto.type_attr,
        proto.number_attr,
        proto.type_list_attr,
        proto.is_ref,
    )


def _attr(proto: Any) -> AttrDef:
    allowed = None
    if proto.HasField("allowed_values"):
        allowed = tuple(attr_value.from_proto(proto.allowed_values) or ())
    has_default = proto.HasField("default_value")
    default = attr_value.from_proto(proto.default_value) if has_default else None
    minimum = proto.minimum if proto.has_minimum else None
    return AttrDef(proto.name, proto.type, has_default, default, minimum, allowed)


def summarize(op_def: OpDef) -> str:
    """`Op<name=MatMul; signature=a:T, b:T -> product:T>`, for messages."""
    inputs = ", ".join(map(_describe_arg, op_def.inputs))
    outputs = ", ".join(map(_describe_arg, op_def.outputs))
    return f"Op<name={op_def.name}; signature={inputs} -> {outputs}>"


def _describe_arg(arg: ArgDef) -> str:
    if arg.type_list_attr:
        kind = arg.type_list_attr
    else:
        kind = arg.type_attr if arg.type is None else arg.type.name
        if arg.is_ref:
            kind = f"Ref({kind})"
        if arg.number_attr:
            kind = f"{arg.number_attr}*{kind}"
    return f"{arg.name}:{kind}"
