"""`FunctionIR` to the `FunctionDef` proto and back.

A function that is wrong is read, too: as one with a problem; and one whose types depend
on attrs of its calls as a template of functions (`function_template.py`).

In a FunctionDef, `x` is the argument x, and `node:out:1` the second tensor of the
output argument `out` of a node; a FunctionIR counts a node's outputs through, as a
graph does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tensorloom.framework.errors import (
    InvalidArgumentError,
    NotFoundError,
    OpError,
    invalid_argument,
)
from tensorloom.framework.functions import function_template
from tensorloom.framework.functions.function_op_def import call_of, signature_of
from tensorloom.framework.functions.function_problem import FunctionProblem
from tensorloom.framework.graph import node_attrs, node_def, node_reader
from tensorloom.framework.graph.graph_ir import FunctionIR, Node, sort_topologically
from tensorloom.framework.graph.node_def import Signatures, find_op
from tensorloom.framework.registry.op_registry import ArgDef, OpDef, arg_types
from tensorloom.framework.types import attr_value
from tensorloom.framework.types.dtypes import DType, as_dtype
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.protos import function_pb2

# Writing --------------------------------------------------------------------------


def to_proto(
    function: FunctionIR, functions: Mapping[str, FunctionIR]
) -> function_pb2.FunctionDef:
    """The function as a message.

    `functions` are those that its nodes may call.

    Raises:
        NotFoundError: a node's op is neither registered nor one of them.
    """
    from tensorloom.protos.function_pb2 import FunctionDef

    proto = FunctionDef()
    if function.problem is not None:
        proto.CopyFrom(function.problem.definition)
        proto.signature.name = function.name
        return proto
    _fill_signature(proto.signature, function)
    writer = _BodyWriter(function, functions)
    for node in function.nodes.values():
        node_def.fill(proto.node_def.add(), node, writer.input_name)
    for name, (producer, index) in zip(
        function.output_names, function.returns, strict=True
    ):
        proto.ret[name] = writer.input_name(producer, index)
    for name in function.control_returns:
        proto.control_ret[name] = name
    for name, value in function.attrs.items():
        if name != "_input_shapes":
            attr_value.encode_into(proto.attr[name], value)
    if function.arg_shapes is not None:
        attr_value.encode_into(proto.attr["_input_shapes"], list(function.arg_shapes))
    return proto


def _fill_signature(proto: Any, function: FunctionIR) -> None:
    proto.name = function.name
    proto.is_stateful = function.is_stateful
    proto.control_output.extend(function.control_returns)
    _fill_args(proto.input_arg, function.arg_names, function.arg_types)
    _fill_args(proto.output_arg, function.output_names, function.output_types)


def _fill_args(field: Any, names: Iterable[str], types: Iterable[DType]) -> None:
    for name, dtype in zip(names, types, strict=True):
        arg = field.add()
        arg.name = name
        arg.type = dtype.base_dtype.as_datatype_enum
        arg.is_ref = dtype._is_ref_dtype


class _BodyWriter:
    """Writes references to the tensors of one function body."""

    def __init__(
        self, function: FunctionIR, functions: Mapping[str, FunctionIR]
    ) -> None:
        self._function = function
        self._functions = functions
        self._outputs: dict[str, list[str]] = {}

    def input_name(self, producer: str, index: int) -> str:
        """`argument`, or `node:out:index`."""
        node = self._function.nodes.get(producer)
        if node is None:
            return producer
        names = self._outputs.get(producer)
        if names is None:
            names = self._outputs[producer] = self._output_names(node)
        return f"{producer}:{names[index]}"

    def _output_names(self, node: Node) -> list[str]:
        called = self._functions.get(node.op)
        op_def = find_op(node.op, {node.op: signature_of(called)} if called else {})
        return [
            f"{arg.name}:{index}"
            for arg in op_def.outputs
            for index in range(len(arg_types(arg, node.attrs)))
        ]


# Reading --------------------------------------------------------------------------


def signature_from_proto(proto: function_pb2.FunctionDef) -> OpDef | FunctionProblem:
    """The definition of calls to the function in a message, or why there is none."""
    signature = proto.signature
    try:
        if function_template.has_attrs(signature):
            return function_template.signature_of(signature)
        inputs = tuple(_arg_def(arg) for arg in signature.input_arg)
        outputs = tuple(_arg_def(arg) for arg in signature.output_arg)
    except NotFoundError as error:  # calls that are not by its name can give the attrs
        return replace(
            _template(proto, None), message=_problem(proto, "", error).message
        )
    except OpError as error:
        return replace(_problem(proto, "", error), has_signature=False)
    return call_of(signature.name, inputs, outputs, signature.is_stateful)


def _arg_def(arg: Any) -> ArgDef:
    try:
        dtype = as_dtype(int(arg.type))
    except TypeError:
        raise invalid_argument(
            f"argument '{arg.name}' has unknown data type {arg.type}"
        ) from None
    return ArgDef(arg.name, dtype, is_ref=arg.is_ref)


def from_proto(
    proto: function_pb2.FunctionDef, signatures: Signatures, gradient: str = ""
) -> FunctionIR:
    """The function in a message; one with a problem if it cannot be called.

    Args:
        proto: the message.
        signatures: definitions of this function and of those that its nodes may call.
        gradient: name of its gradient function, if it has one.
    """
    signature = signatures[proto.signature.name]
    if isinstance(signature, FunctionProblem):
        return _without_body(proto, None, signature, gradient)
    if function_template.has_attrs(proto.signature):
        return _without_body(proto, None, _template(proto, signature), gradient)
    reader = _BodyReader(proto, signature, signatures)
    try:
        function = _read(proto, signature, reader, gradient)
    except OpError as error:
        problem = _problem(proto, reader.place, error)
    else:
        if reader.late is None:
            return function
        problem = replace(_problem(proto, *reader.late), is_late=True)
    if function_template.has_placeholders(proto):
        problem = replace(_template(proto, None), has_signature=True)
    return _without_body(proto, signature, problem, gradient)


def _problem(proto: Any, place: str, error: OpError) -> FunctionProblem:
    """What is wrong with a function, at a node of it if `place` names one."""
    definition = type(proto)()
    definition.CopyFrom(proto)
    kind = NotFoundError if isinstance(error, NotFoundError) else InvalidArgumentError
    where = f"Function '{proto.signature.name}'{place}"
    return FunctionProblem(kind, f"{where}: {error.message}", definition)


def _template(proto: Any, signature: OpDef | None) -> FunctionProblem:
    """What stands for the body of a function with attrs."""
    definition = type(proto)()
    definition.CopyFrom(proto)
    names = ", ".join(sorted(function_template.attr_names(proto)))
    return FunctionProblem(
        NotFoundError,
        f"Function '{proto.signature.name}': a call must give its attrs: {names}",
        definition,
        has_signature=False,
        is_template=True,
        signature=signature,
    )


def _without_body(
    proto: Any, signature: OpDef | None, problem: FunctionProblem, gradient: str
) -> FunctionIR:
    inputs, outputs = (signature.inputs, signature.outputs) if signature else ((), ())
    return FunctionIR(
        name=proto.signature.name,
        arg_names=tuple(arg.name for arg in inputs),
        arg_types=tuple(signature.input_types({})) if signature else (),
        output_names=tuple(arg.name for arg in outputs),
        output_types=tuple(signature.output_types({})) if signature else (),
        nodes={},
        returns=(),
        gradient=gradient,
        is_stateful=proto.signature.is_stateful,
        problem=problem,
    )


def _read(
    proto: Any, signature: OpDef, reader: _BodyReader, gradient: str
) -> FunctionIR:
    """A function that can be called.

    Raises:
        InvalidArgumentError: a name is not unique or unknown, an attr is malformed,
            dtypes do not fit, or the nodes form a cycle.
        NotFoundError: an op or attr is not there.
    """
    _check_signature(signature)
    nodes = reader.nodes()
    arg_names = tuple(arg.name for arg in signature.inputs)
    output_names = tuple(arg.name for arg in signature.outputs)
    for name in output_names:
        if name not in proto.ret:
            raise invalid_argument(f"output '{name}' is not returned")
    ordered = sort_topologically(nodes, known=arg_names)
    attrs = attr_value.attrs_from_proto(proto.attr)
    arg_shapes = _arg_shapes(attrs, proto)
    returns = tuple(reader.resolve(proto.ret[name]) for name in output_names)
    reader.check_types(nodes, returns)
    # As in TensorFlow, those that are not there wait for nothing.
    control_returns = [
        proto.control_ret[name]
        for name in proto.signature.control_output
        if name in proto.control_ret
    ]
    return FunctionIR(
        name=signature.name,
        arg_names=arg_names,
        arg_types=tuple(signature.input_types({})),
        output_names=output_names,
        output_types=tuple(signature.output_types({})),
        nodes={node.name: node for node in ordered},
        returns=returns,
        control_returns=tuple(name for name in control_returns if name in nodes),
        attrs=attrs,
        gradient=gradient,
        is_stateful=signature.is_stateful,
        arg_shapes=arg_shapes,
    )


def _check_signature(signature: OpDef) -> None:
    """Raises InvalidArgumentError or NotFoundError if it lets nobody call."""
    for kind, args in (("argument", signature.inputs), ("output", signature.outputs)):
        names = [arg.name for arg in args]
        if "" in names:
            raise invalid_argument(f"an {kind} has no name")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise invalid_argument(f"duplicated {kind} name '{twice}'")


def _arg_shapes(
    attrs: dict[str, Any], proto: function_pb2.FunctionDef
) -> tuple[TensorShape, ...] | None:
    """Static shapes of the arguments, where TensorFlow 1 or 2 wrote them."""
    count = len(proto.signature.input_arg)
    shapes = attrs.pop("_input_shapes", None)
    if isinstance(shapes, list) and len(shapes) == count and shapes:
        # What says nothing usable about an argument says nothing.
        return tuple(s if isinstance(s, TensorShape) else UNKNOWN for s in shapes)
    found = {
        index: _shape_of_arg(arg.attr)
        for index, arg in proto.arg_attr.items()
        # Asking a map field for an absent key would add it to the message.
        if "_output_shapes" in arg.attr
    }
    if not found:
        return None
    return tuple(found.get(index, UNKNOWN) for index in range(count))


def _shape_of_arg(attrs: Any) -> TensorShape:
    shapes = attr_value.from_proto(attrs["_output_shapes"])
    is_one = isinstance(shapes, list) and len(shapes) == 1
    return shapes[0] if is_one and isinstance(shapes[0], TensorShape) else UNKNOWN


class _BodyReader:
    """Reads the nodes of one function body."""

    def __init__(
        self, proto: function_pb2.FunctionDef, signature: OpDef, signatures: Signatures
    ) -> None:
        #: The node that is read, for messages; "" for the function itself.
        self.place = ""
        #: The first node whose attrs alone are wrong, and how.
        self.late: tuple[str, OpError] | None = None
        self._signature = signature
        self._signatures = signatures
        self._proto = proto
        self._args: dict[str, DType] = {}
        self._reader = node_reader.NodeReader()
        self._input_types: dict[str, list[DType]] = {}
        self._protos: dict[str, Any] = {}
        self._op_defs: dict[str, OpDef] = {}
        self._output_counts: dict[str, list[int]] = {}

    def nodes(self) -> dict[str, Node]:
        """All nodes by name, in the order of the message.

        Raises:
            InvalidArgumentError, NotFoundError: one of them is wrong.
        """
        names = [arg.name for arg in self._signature.inputs]
        types = self._signature.input_types({})
        self._args.update(zip(names, types, strict=True))
        for node in self._proto.node_def:
            self._enter(node)
            node_def.check_name(node.name, internal=True)
            if node.name in self._protos or node.name in self._args:
                raise invalid_argument(f"Node '{node.name}' is not unique")
            self._protos[node.name] = node
            self._op_defs[node.name] = find_op(node.op, self._signatures)
        nodes = {name: self._node(proto) for name, proto in self._protos.items()}
        self.place = ""
        return nodes

    def _enter(self, proto: Any) -> None:
        self.place = f", node '{proto.name}' (op {proto.op})"

    def _node(self, proto: Any) -> Node:
        self._enter(proto)
        data = [text for text in proto.input if not text.startswith("^")]
        controls = [text[1:] for text in proto.input if text.startswith("^")]
        if list(proto.input[: len(data)]) != data:
            raise invalid_argument(
                "Control dependencies must come after regular dependencies"
            )
        inputs = tuple(edge for text in data for edge in self._edges(text))
        for name in controls:
            if name not in self._protos and name not in self._args:
                raise invalid_argument(f"Unknown node '{name}'")
        op_def = self._op_defs[proto.name]
        try:
            node, types = self._reader.read(proto, op_def, inputs, tuple(controls))
        except OpError as error:
            node, types = self._late(proto, op_def, inputs, error)
        self._input_types[proto.name] = types
        return node

    def _late(
        self,
        proto: Any,
        op_def: OpDef,
        inputs: tuple[tuple[str, int], ...],
        error: OpError,
    ) -> tuple[Node, list[DType]]:
        """A stand-in for an unreadable node whose dtypes are known.

        Raises:
            InvalidArgumentError, NotFoundError: they are not.
        """
        try:
            takes, gives = node_attrs.types_alone(proto, op_def, len(inputs))
        except OpError as cause:
            raise type(cause)(None, None, error.message) from None
        self.late = self.late or (self.place, error)
        node = Node(proto.name, proto.op, inputs, (), "", {}, tuple(gives))
        return node, takes

    def check_types(
        self, nodes: Mapping[str, Node], returns: Iterable[tuple[str, int]]
    ) -> None:
        """Raises InvalidArgumentError where a dtype is not what its taker expects."""

        def dtype_of(producer: str, index: int) -> DType:
            node = nodes.get(producer)
            return self._args[producer] if node is None else node.output_types[index]

        for name, wanted in self._input_types.items():
            for index, edge in enumerate(nodes[name].inputs):
                have = dtype_of(*edge)
                if not wanted[index].is_compatible_with(have):
                    self._enter(self._protos[name])
                    raise invalid_argument(
                        f"input {index} expected type {wanted[index].name} != "
                        f"{have.name}, the type of '{edge[0]}'"
                    )
        for arg, edge in zip(self._signature.outputs, returns, strict=True):
            (want,), have = arg_types(arg, {}), dtype_of(*edge)
            if want.base_dtype != have.base_dtype:
                raise invalid_argument(
                    f"invalid return type: output '{arg.name}' is {want.name}, and "
                    f"'{edge[0]}' gives {have.name}"
                )

    def resolve(self, text: str) -> tuple[str, int]:
        """(producer, output index) of `argument` or `node:out:index`.

        Raises:
            InvalidArgumentError: there is no such tensor.
        """
        edges = self._edges(text)
        if len(edges) != 1:
            raise invalid_argument(f"'{text}' is {len(edges)} tensors, one is needed")
        return edges[0]

    def _edges(self, text: str) -> list[tuple[str, int]]:
        """As `resolve`; `node:out` is all tensors of an argument that has several."""
        name, _, rest = text.partition(":")
        if name in self._args and rest in ("", "0"):
            return [(name, 0)]
        arg_name, _, index = rest.partition(":")
        if name not in self._protos:
            raise invalid_argument(f"Unknown input '{text}'")
        offset = 0
        counts = self._counts_of(name)
        for arg, count in zip(self._op_defs[name].outputs, counts, strict=True):
            if arg.name == arg_name:
                if arg.is_list and not index:
                    return [(name, offset + i) for i in range(count)]
                position = int(index) if index.isascii() and index.isdigit() else 0
                if position < count:
                    return [(name, offset + position)]
            offset += count
        raise invalid_argument(
            f"'{text}' is not an output of node '{name}' (op {self._protos[name].op})"
        )

    def _counts_of(self, name: str) -> list[int]:
        """How many tensors each output argument of a node has."""
        counts = self._output_counts.get(name)
        if counts is None:
            outputs = self._op_defs[name].outputs
            counts = [1] * len(outputs)
            if any(arg.number_attr or arg.type_list_attr for arg in outputs):
                attrs = node_attrs.type_attrs(self._protos[name], self._op_defs[name])
                counts = [len(arg_types(arg, attrs)) for arg in outputs]
            self._output_counts[name] = counts
        return counts
