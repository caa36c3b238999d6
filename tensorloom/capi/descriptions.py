"""Descriptions of operations, and how they become operations of their graph.

What is wrong with a description is kept, and raised when it is finished: most functions
of C that fill it have no status.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from tensorloom.capi.graphs import ProgramGraph, shape_of
from tensorloom.framework import errors
from tensorloom.framework.errors import InvalidArgumentError, invalid_argument
from tensorloom.framework.graph import node_attrs
from tensorloom.framework.graph.graph_scopes import VALID_OP_NAME
from tensorloom.framework.types import attr_value, dtypes
from tensorloom.framework.types.attr_value import AttrPlaceholder, NameAttrList
from tensorloom.framework.types.dtype_words import dtype_word

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.op_registry import ArgDef, OpDef
    from tensorloom.framework.types.tensor_shape import TensorShape

_COLOCATION: Final = b"loc:@"
_CLASS: Final = "_class"


class Attributed(Protocol):
    """What has attrs that C sets: an operation of a graph, or an op that runs alone."""

    problem: errors.OpError | None

    @property
    def attrs(self) -> dict[str, Any]:
        """The attrs that are set."""
        ...


class Description:
    """An operation that is being described."""

    def __init__(self, graph: Graph, op_type: bytes, name: bytes) -> None:
        self.graph = graph
        self.op_type = op_type.decode("utf-8", "replace")
        self.name = name.decode("utf-8", "replace")
        self.device = ""
        self.inputs: list[Tensor | list[Tensor]] = []  # one for each argument
        self.control_inputs: list[Operation] = []
        self.attrs: dict[str, Any] = {}
        self.groups: set[bytes] = set()  # colocation constraints
        self.problem: errors.OpError | None = None  # the first


# --- Filling ----------------------------------------------------------------------


def keep_problem(description: Attributed, code: int, message: str) -> None:
    """Keeps what is wrong, if it is the first thing."""
    if description.problem is None:
        description.problem = errors.exception_type_from_error_code(code)(
            None, None, message
        )


def set_device(description: Description, device: str | None) -> None:
    """Sets the requested device."""
    if device is None:
        keep_problem(description, errors.INVALID_ARGUMENT, "device is NULL")
    description.device = device or ""


def add_input(description: Description, given: Tensor | list[Tensor]) -> None:
    """Adds what the next input argument gets: a tensor, or a list of them."""
    description.inputs.append(given)


def add_control_input(description: Description, op: Operation) -> None:
    """Adds an operation that is to run before this one."""
    if op not in description.control_inputs:
        description.control_inputs.append(op)


def colocate_with(description: Description, op: Operation) -> None:
    """Asks for the device of another operation."""
    description.groups.add(_COLOCATION + op.name.encode())


def _shape(value: Any) -> TensorShape:
    if isinstance(value, tuple):
        raise invalid_argument("the array of dims is NULL")
    return shape_of(value)


def _float(value: float) -> float:
    return float(np.float32(value))


# From what C gives to a decoded attr, by the attr's type.
_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "string": bytes,
    "int": int,
    "float": _float,
    "bool": bool,
    "type": dtypes.as_dtype,
    "shape": _shape,
    "placeholder": AttrPlaceholder,
    "func": lambda name: NameAttrList(name.decode()),
    "function": lambda function: function,  # a NameAttrList
}


def set_attr(description: Attributed, given: tuple[str | None, str, Any]) -> None:
    """Sets an attr: (its name, its type, the value as C has it).

    The value is None where C has NULL. A shape is in a tuple, since None is a shape.
    """
    name, kind, value = given
    try:
        if name is None:
            raise invalid_argument("attr_name is NULL")
        if value is None:
            raise invalid_argument(f"the value of attr '{name}' is NULL")
        if kind.startswith("list("):
            read = _READERS[kind[5:-1]]
            _set(description, name, [read(item) for item in value])
        else:
            value = value[0] if kind == "shape" else value
            _set(description, name, _READERS[kind](value))
    except errors.OpError as error:
        keep_problem(description, error.error_code or 0, error.message)
    except (TypeError, ValueError) as error:
        message = f"attr '{name}': {error}"
        keep_problem(description, errors.INVALID_ARGUMENT, message)


def _set(description: Attributed, name: str, value: Any) -> None:
    if name != _CLASS:
        description.attrs[name] = value
        return
    if not isinstance(value, list) or not all(isinstance(v, bytes) for v in value):
        raise invalid_argument('Expected "list" field for "_class" attribute')
    if isinstance(description, Description):
        description.groups = set(value)


def set_shape_proto(description: Description, name: str, serialized: bytes) -> None:
    """Sets an attr to a serialized TensorShapeProto.

    Raises:
      InvalidArgumentError: it is none.
    """
    _set(description, name, _read_shape(serialized, ""))


def set_shape_protos(
    description: Description, name: str, serialized: list[bytes]
) -> None:
    """Sets an attr to a list of serialized TensorShapeProtos.

    Raises:
      InvalidArgumentError: one is none.
    """
    shapes = [_read_shape(s, f" at index {i}") for i, s in enumerate(serialized)]
    _set(description, name, shapes)


def _read_shape(serialized: bytes, where: str) -> TensorShape:
    from tensorloom.protos.attr_value_pb2 import AttrValue

    attr = AttrValue()
    _parse(attr.shape, serialized, f"TensorShapeProto{where}")
    attr.shape.SetInParent()
    shape: TensorShape = attr_value.from_proto(attr)
    return shape


def _parse(message: Any, serialized: bytes, what: str) -> None:
    from google.protobuf.message import DecodeError

    try:
        message.MergeFromString(serialized)
    except DecodeError:
        raise InvalidArgumentError(None, None, f"Unparseable {what}") from None


def set_tensor(description: Attributed, name: str, value: Any) -> None:
    """Sets an attr to a tensor, whose value is copied."""
    _set(description, name, _kept(value))


def set_tensors(description: Description, name: str, values: list[Any]) -> None:
    """Sets an attr to a list of tensors, whose values are copied."""
    _set(description, name, [_kept(value) for value in values])


def _kept(value: Any) -> np.ndarray[Any, Any]:
    """A copy that stays as it is when the caller frees or changes the tensor."""
    if not isinstance(value, np.ndarray):
        raise invalid_argument("a handle cannot be the value of an attr")
    copy = value.copy()
    copy.flags.writeable = False
    return copy


def set_value_proto(description: Description, name: str, serialized: bytes) -> None:
    """Sets an attr to a serialized AttrValue.

    Raises:
      InvalidArgumentError: it is none, or malformed.
    """
    from tensorloom.protos.attr_value_pb2 import AttrValue

    proto = AttrValue()
    _parse(proto, serialized, "AttrValue proto")
    value = attr_value.from_proto(proto)
    if name == _CLASS and value is None:
        value = []
    _set(description, name, value)


# --- Finishing --------------------------------------------------------------------


def finish(description: Description) -> Operation:
    """Adds the operation to its graph.

    Raises:
      errors.OpError, ValueError: there is no such op, or something does not fit.
    """
    if description.problem is not None:
        raise description.problem
    graph, name = description.graph, description.name
    if name in graph._by_name:
        raise invalid_argument(f"Duplicate node name in graph: '{name}'")
    try:
        op_def = graph._get_op_def(description.op_type)
    except errors.NotFoundError as error:
        raise invalid_argument(error.message) from None  # as TensorFlow's builder
    if op_def.deprecated is not None:
        why = op_def.removal_message(graph._producer)
        if why:
            raise errors.UnimplementedError(None, None, why)
    inputs, attrs = _inputs_and_attrs(description, op_def)
    attrs = _complete(op_def, attrs)
    if op_def.name == "Const":
        node_attrs.check_constant(attrs)
    if description.groups:
        attrs[_CLASS] = sorted(description.groups)
    for op in description.control_inputs:
        if op.graph is not graph:
            raise invalid_argument(f"{op.name} is of another graph than '{name}'")
    with graph._lock:
        # A slash at the end: the name is taken as it is.
        made = graph.add_operation(
            op_def, inputs, attrs, f"{name}/", stack=_NO_STACK, any_name=True
        )
        _note_refused(graph, made)
        graph._names_in_use.setdefault(name.lower(), 1)
        made._device = description.device
        for op in description.control_inputs:
            made._control_inputs.append(op)
            op._control_outputs.append(made)
    return made


_NO_STACK: Final[Any] = ()  # the program is not in Python


def _complete(op_def: OpDef, attrs: dict[str, Any]) -> dict[str, Any]:
    """Complete attrs, in which some may stand for those of a function."""
    placeholders = {
        name: value
        for name, value in attrs.items()
        if isinstance(value, AttrPlaceholder) and name in op_def.attrs
    }
    if not placeholders:
        return node_attrs.complete_attrs(op_def, attrs)
    # They have no value to check. The others are checked as if the op had no more.
    left = {k: attr for k, attr in op_def.attrs.items() if k not in placeholders}
    given = {k: value for k, value in attrs.items() if k not in placeholders}
    complete = node_attrs.complete_attrs(replace(op_def, attrs=left), given)
    return {**complete, **placeholders}


def _note_refused(graph: Graph, op: Operation) -> None:
    """Keeps what no session takes of an operation: a name, an attr's placeholder."""
    if not isinstance(graph, ProgramGraph):
        return
    if graph.bad_name is None and not VALID_OP_NAME.match(op.name):
        graph.bad_name = op.name
    for name, value in op.attrs.items():
        if isinstance(value, AttrPlaceholder) and name in op._op_def.attrs:
            graph.refused[op] = (
                f"Node '{op.name}': attr '{name}' is a placeholder for attr "
                f"'{value.name}' of a function, whose body alone can have it"
            )


def _inputs_and_attrs(
    description: Description, op_def: OpDef
) -> tuple[list[Tensor], dict[str, Any]]:
    given, args = description.inputs, op_def.inputs
    if len(given) != len(args):
        raise invalid_argument(
            f"{len(given)} inputs specified of {len(args)} inputs in Op while building "
            f"NodeDef '{description.name}' using Op {op_def.name}"
        )
    attrs = dict(description.attrs)
    inputs: list[Tensor] = []
    for arg, value in zip(args, given, strict=True):
        inputs += _argument(description, arg, value, attrs)
    return inputs, attrs


def _argument(
    description: Description,
    arg: ArgDef,
    given: Tensor | list[Tensor],
    attrs: dict[str, Any],
) -> list[Tensor]:
    """The tensors of one argument; adds the attrs that they tell."""
    where = f"while building NodeDef '{description.name}'"
    tensors = given if isinstance(given, list) else [given]
    if arg.is_list and not isinstance(given, list):
        raise invalid_argument(
            f"Single tensor passed to '{arg.name}', expected list {where}"
        )
    if isinstance(given, list) and not arg.is_list:
        raise invalid_argument(
            f"List provided to input '{arg.name}' when single Tensor expected {where}"
        )
    types = [tensor.dtype.base_dtype for tensor in tensors]
    if arg.type_list_attr:
        _tell(attrs, arg.type_list_attr, types, where)
        return tensors
    if arg.number_attr:
        _tell(attrs, arg.number_attr, len(tensors), where)
    for tensor, dtype in zip(tensors, types, strict=True):
        if arg.type is not None and arg.type.base_dtype is not dtype:
            raise invalid_argument(
                f"Input '{arg.name}' passed {dtype_word(dtype)} expected "
                f"{dtype_word(arg.type)} {where}"
            )
        if arg.is_ref and not tensor.dtype._is_ref_dtype:
            raise invalid_argument(
                f"Input '{arg.name}' passed {dtype_word(dtype)} expected ref type "
                f"{where}"
            )
        if arg.type_attr:
            _tell(attrs, arg.type_attr, dtype, where)
    return tensors


def _tell(attrs: dict[str, Any], name: str, value: Any, where: str) -> None:
    known = attrs.setdefault(name, value)
    if known != value:
        raise invalid_argument(
            f"Inconsistent values for attr '{name}' {_words(known)} vs. "
            f"{_words(value)} {where}"
        )


def _words(value: Any) -> str:
    return dtype_word(value) if isinstance(value, dtypes.DType) else str(value)
