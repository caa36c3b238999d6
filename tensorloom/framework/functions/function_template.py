"""Functions whose types depend on attrs: templates. A call of one means an instance.

template: Twice(x: T) -> y: T     { y = Add[T=$T](x, x) }
call:     z = Twice[T=DT_FLOAT](a)
instance: Twice[T=float32](x: float32) -> y: float32 { y = Add[T=DT_FLOAT](x, x) }

`$T` is an attr placeholder: its value is that of the call's attr T. An argument that
stands for several tensors becomes several: `xs` those that are called `xs_0`, `xs_1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import NotFoundError, invalid_argument
from tensorloom.framework.functions.function_op_def import call_of
from tensorloom.framework.graph import node_attrs
from tensorloom.framework.registry import op_def_proto
from tensorloom.framework.registry.op_registry import AttrDef, OpDef, arg_types
from tensorloom.framework.types import attr_value
from tensorloom.framework.types.dtypes import DType

if TYPE_CHECKING:
    from tensorloom.protos import function_pb2

#: By the field of an argument, the type of the attr that it names.
_FIELDS = {"type_attr": "type", "number_attr": "int", "type_list_attr": "list(type)"}


def has_attrs(signature: Any) -> bool:
    """Whether calls of a function give attrs, as far as its signature says."""
    return bool(signature.attr) or any(map(_attr_names, _args(signature)))


def has_placeholders(definition: function_pb2.FunctionDef) -> bool:
    """Whether an attr of the body is to be an attr of the function."""
    return any(
        any(_placeholders(value))
        for node in definition.node_def
        for value in node.attr.values()
    )


def _args(signature: Any) -> Iterable[Any]:
    return (*signature.input_arg, *signature.output_arg)


def attr_names(definition: function_pb2.FunctionDef) -> frozenset[str]:
    """The attrs on which instances of a function depend."""
    names = {attr.name for attr in definition.signature.attr}
    names.update(n for arg in _args(definition.signature) for n, _ in _attr_names(arg))
    for node in definition.node_def:
        for value in node.attr.values():
            names.update(_placeholders(value))
    return frozenset(names)


def _placeholders(value: Any) -> Iterator[str]:
    if value.HasField("placeholder"):
        yield value.placeholder
    for function in attr_value.functions_in(value):
        for inner in function.attr.values():
            yield from _placeholders(inner)


def _attr_names(arg: Any) -> list[tuple[str, str]]:
    """The attrs that an argument names, each with the type that it must have."""
    return [
        (getattr(arg, field), kind)
        for field, kind in _FIELDS.items()
        if getattr(arg, field)
    ]


def _read(signature: Any) -> OpDef:
    read = op_def_proto.from_proto(signature)
    for attr in read.attrs.values():
        if attr.type not in node_attrs.KINDS:
            raise invalid_argument(f"attr '{attr.name}' is of type '{attr.type}'")
    return read


def signature_of(signature: Any) -> OpDef:
    """The definition of nodes whose op is the function.

    Raises:
        NotFoundError: an argument depends on an attr that the function does not have.
        InvalidArgumentError: a dtype or an attr is malformed.
    """
    read = _read(signature)
    for arg in _args(signature):
        for name, kind in _attr_names(arg):
            if name not in read.attrs:
                raise NotFoundError(
                    None,
                    None,
                    f"the type of argument '{arg.name}' depends on the attr '{name}', "
                    "which the function does not have",
                )
            if read.attrs[name].type != kind:
                raise invalid_argument(
                    f"argument '{arg.name}' takes attr '{name}', which is of type "
                    f"'{read.attrs[name].type}', for one of type '{kind}'"
                )
    for arg_def in (*read.inputs, *read.outputs):
        if arg_def.type is None and not (arg_def.type_attr or arg_def.type_list_attr):
            raise invalid_argument(f"argument '{arg_def.name}' has no type")
    return call_of(read.name, read.inputs, read.outputs, read.is_stateful, read.attrs)


# Instances ------------------------------------------------------------------------


def instance_name(name: str, attrs: Mapping[str, Any]) -> str:
    """The name of a function with values of its attrs, as `Twice[T=float32]`."""
    values = [f"{key}={_text(attrs[key])}" for key in sorted(attrs)]
    return f"{name}[{','.join(values)}]"


def _text(value: Any) -> str:
    if isinstance(value, DType):
        return value.name
    if isinstance(value, int):  # a bool, too
        return str(value)
    message = attr_value.to_proto(value).SerializeToString(deterministic=True)
    import hashlib  # which loads OpenSSL

    return f"#{hashlib.sha256(message).hexdigest()[:16]}"


def instance(
    definition: function_pb2.FunctionDef, attrs: Mapping[str, Any], name: str
) -> function_pb2.FunctionDef:
    """The function with values of its attrs, as one without attrs.

    Args:
        definition: the template.
        attrs: decoded values by name; others than its own are for placeholders that
            it does not declare.
        name: of the result.

    Raises:
        NotFoundError: an attr has no value.
        InvalidArgumentError: one is of a wrong kind, placeholders are left, or results
            are not as many as the signature says.
    """
    _check_attrs(definition.signature, attrs)
    values = {key: attr_value.to_proto(value) for key, value in attrs.items()}
    made = type(definition)()
    made.signature.name = name
    made.signature.is_stateful = definition.signature.is_stateful
    made.signature.control_output.extend(definition.signature.control_output)
    arguments = {
        arg.name: _expanded(made.signature.input_arg, arg, attrs)
        for arg in definition.signature.input_arg
    }
    for node in definition.node_def:
        copy = made.node_def.add()
        copy.CopyFrom(node)
        del copy.input[:]
        copy.input.extend(n for text in node.input for n in _resolved(text, arguments))
        for value in copy.attr.values():
            _bind(value, values)
    for arg in definition.signature.output_arg:
        names = _expanded(made.signature.output_arg, arg, attrs)
        if arg.name in definition.ret:
            tensors = _returned(definition.ret[arg.name], arg, len(names), arguments)
            made.ret.update(zip(names, tensors, strict=True))
    for key, node_name in definition.control_ret.items():
        made.control_ret[key] = node_name
    for key, value in definition.attr.items():
        made.attr[key].CopyFrom(value)
    if len(made.signature.input_arg) == len(definition.signature.input_arg):
        for index, arg_attr in definition.arg_attr.items():
            made.arg_attr[index].CopyFrom(arg_attr)
    return made


def _check_attrs(signature: Any, attrs: Mapping[str, Any]) -> None:
    of_args = [
        AttrDef(name, kind)
        for arg in _args(signature)
        for name, kind in _attr_names(arg)
    ]
    for attr in (*of_args, *_read(signature).attrs.values()):
        if attr.name not in attrs:
            raise NotFoundError(
                None,
                None,
                f"Attr {attr.name} is not found from a call of '{signature.name}', "
                f"which gives {', '.join(sorted(attrs)) or 'none'}",
            )
        node_attrs.check_attr(attr, attrs[attr.name])


def _expanded(field: Any, arg: Any, attrs: Mapping[str, Any]) -> list[str]:
    """Adds an argument to a signature, once for each of its tensors; their names."""
    if arg.number_attr and attrs[arg.number_attr] > node_attrs.MAX_TENSORS:
        raise invalid_argument(
            f"Value for attr '{arg.number_attr}' of {attrs[arg.number_attr]} is too "
            "large for a number of tensors"
        )
    types = arg_types(op_def_proto.arg_from_proto(arg), dict(attrs))
    names = [f"{arg.name}_{i}" for i in range(len(types))]
    if len(types) == 1:
        names = [arg.name]
    for name, dtype in zip(names, types, strict=True):
        field.add(name=name, type=dtype.base_dtype.as_datatype_enum, is_ref=arg.is_ref)
    return names


def _resolved(text: str, arguments: Mapping[str, list[str]]) -> list[str]:
    """The inputs that one stands for: an argument's tensors, or one of them."""
    name, _, index = text.partition(":")
    names = arguments.get(name)
    if names is None:
        return [text]
    if not index:
        return names
    position = int(index) if index.isascii() and index.isdigit() else len(names)
    return names[position : position + 1] or [text]


def _returned(
    text: str, arg: Any, count: int, arguments: Mapping[str, list[str]]
) -> list[str]:
    """The tensors of an output argument.

    Raises:
        InvalidArgumentError: there are not as many.
    """
    tensors = _resolved(text, arguments)
    is_list = bool(arg.number_attr or arg.type_list_attr)
    if is_list and text.count(":") == 1 and text.partition(":")[0] not in arguments:
        return [f"{text}:{index}" for index in range(count)]  # of a node's argument
    if len(tensors) != count:
        raise invalid_argument(
            f"Invalid ret types {arg.name}: {count} tensors, and '{text}' is "
            f"{len(tensors)}"
        )
    return tensors


def _bind(value: Any, values: Mapping[str, Any]) -> None:
    """Replaces the placeholders in an attr.

    Raises:
        InvalidArgumentError: one has no value.
    """
    if value.HasField("placeholder"):
        found = values.get(value.placeholder)
        if found is None:
            raise invalid_argument(
                f"Failed to bind all placeholders in ${value.placeholder}"
            )
        value.CopyFrom(found)
        return
    for function in attr_value.functions_in(value):
        for inner in function.attr.values():
            _bind(inner, values)
