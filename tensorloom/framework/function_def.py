"""`FunctionIR` to the `FunctionDef` proto and back.

In a FunctionDef, `x` is the argument x, and `node:out:1` the second tensor of the
output argument `out` of a node; a FunctionIR counts a node's outputs through, as a
graph does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.framework import attr_value, node_def
from tensorloom.framework.dtypes import DType, as_dtype
from tensorloom.framework.errors import UnimplementedError
from tensorloom.framework.function_op_def import op_def_of
from tensorloom.framework.graph_ir import FunctionIR, Node, sort_topologically
from tensorloom.framework.node_def import find_op, invalid
from tensorloom.framework.op_registry import ArgDef, OpDef, arg_types
from tensorloom.framework.shape_inference import unknown_shapes
from tensorloom.framework.tensor_shape import UNKNOWN, TensorShape

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
        op_def = find_op(node.op, {node.op: op_def_of(called)} if called else {})
        return [
            f"{arg.name}:{index}"
            for arg in op_def.outputs
            for index in range(len(arg_types(arg, node.attrs)))
        ]


# Reading --------------------------------------------------------------------------


def signature_from_proto(proto: function_pb2.FunctionDef) -> OpDef:
    """The definition of calls to the function in a message.

    Raises:
        InvalidArgumentError: a dtype is malformed.
        UnimplementedError: an argument's type depends on an attr.
    """
    signature = proto.signature
    return OpDef(
        name=signature.name,
        inputs=tuple(_arg_def(arg, signature.name) for arg in signature.input_arg),
        outputs=tuple(_arg_def(arg, signature.name) for arg in signature.output_arg),
        attrs={},
        shape_fn=unknown_shapes,
        gradient=None,
        is_stateful=signature.is_stateful,
        doc="A call of a function of the graph.",
    )


def _arg_def(arg: Any, function: str) -> ArgDef:
    if arg.type_attr or arg.number_attr or arg.type_list_attr:
        raise UnimplementedError(
            None,
            None,
            f"Function '{function}': the type of argument '{arg.name}' depends on an "
            "attr; only functions of fixed types can be read",
        )
    try:
        dtype = as_dtype(int(arg.type))
    except TypeError:
        raise invalid(
            f"Function '{function}': argument '{arg.name}' has unknown data type "
            f"{arg.type}"
        ) from None
    return ArgDef(arg.name, dtype, is_ref=arg.is_ref)


def from_proto(
    proto: function_pb2.FunctionDef, signatures: Mapping[str, OpDef], gradient: str = ""
) -> FunctionIR:
    """The function in a message.

    Args:
        proto: the message.
        signatures: definitions of the functions that its nodes may call.
        gradient: name of its gradient function, if it has one.

    Raises:
        InvalidArgumentError: a name is not unique or unknown, an attr is malformed, or
            the nodes form a cycle.
        NotFoundError: an op is not known.
        UnimplementedError: the function is polymorphic.
    """
    signature = signature_from_proto(proto)
    reader = _BodyReader(proto, signature, signatures)
    nodes = reader.nodes()
    arg_names = tuple(arg.name for arg in signature.inputs)
    output_names = tuple(arg.name for arg in signature.outputs)
    for name in output_names:
        if name not in proto.ret:
            raise invalid(
                f"Function '{signature.name}': output '{name}' is not returned"
            )
    control_returns = [
        proto.control_ret[name] for name in proto.signature.control_output
    ]
    ordered = sort_topologically(nodes, known=arg_names)
    attrs = attr_value.attrs_from_proto(proto.attr)
    arg_shapes = _arg_shapes(attrs, proto)
    returns = tuple(reader.resolve(proto.ret[name]) for name in output_names)
    return FunctionIR(
        name=signature.name,
        arg_names=arg_names,
        arg_types=tuple(signature.input_types({})),
        output_names=output_names,
        output_types=tuple(signature.output_types({})),
        nodes={node.name: node for node in ordered},
        returns=returns,
        control_returns=tuple(reader.known_node(name) for name in control_returns),
        attrs=attrs,
        gradient=gradient,
        is_stateful=signature.is_stateful,
        arg_shapes=arg_shapes,
        problem=_problem_of_names(signature) or reader.problem_of_types(nodes, returns),
    )


def _problem_of_names(signature: OpDef) -> str:
    """Why a function of this signature cannot be called; "" if it can."""
    for kind, args in (("argument", signature.inputs), ("output", signature.outputs)):
        names = [arg.name for arg in args]
        if "" in names:
            return f"Function '{signature.name}': an {kind} has no name"
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            return f"Function '{signature.name}': duplicated {kind} name '{twice}'"
    return ""


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
        self,
        proto: function_pb2.FunctionDef,
        signature: OpDef,
        signatures: Mapping[str, OpDef],
    ) -> None:
        self._name = signature.name
        self._signature = signature
        self._args = dict(
            zip(
                (arg.name for arg in signature.inputs),
                signature.input_types({}),
                strict=True,
            )
        )
        self._reader = node_def.NodeReader()
        self._input_types: dict[str, list[DType]] = {}
        self._protos: dict[str, Any] = {}
        self._op_defs: dict[str, OpDef] = {}
        self._attrs: dict[str, dict[str, Any]] = {}
        for node in proto.node_def:
            node_def.check_name(node.name, internal=True)
            if node.name in self._protos or node.name in self._args:
                raise invalid(
                    f"Function '{self._name}': Node '{node.name}' is not unique"
                )
            self._protos[node.name] = node
            self._op_defs[node.name] = find_op(node.op, signatures)

    def nodes(self) -> dict[str, Node]:
        """All nodes by name, in the order of the message."""
        return {name: self._node(proto) for name, proto in self._protos.items()}

    def _node(self, proto: Any) -> Node:
        data = [text for text in proto.input if not text.startswith("^")]
        controls = [text[1:] for text in proto.input if text.startswith("^")]
        if list(proto.input[: len(data)]) != data:
            raise invalid(
                f"Function '{self._name}', node '{proto.name}': Control dependencies "
                "must come after regular dependencies"
            )
        node, self._input_types[proto.name] = self._reader.read(
            proto,
            self._op_defs[proto.name],
            tuple(self.resolve(text, proto.name) for text in data),
            tuple(self.known_node(name, proto.name) for name in controls),
        )
        return node

    def problem_of_types(
        self, nodes: Mapping[str, Node], returns: Iterable[tuple[str, int]]
    ) -> str:
        """Where a value is of another dtype than who takes it says; "" if nowhere."""

        def dtype_of(producer: str, index: int) -> DType:
            node = nodes.get(producer)
            return self._args[producer] if node is None else node.output_types[index]

        for name, wanted in self._input_types.items():
            for index, edge in enumerate(nodes[name].inputs):
                have = dtype_of(*edge)
                if not wanted[index].is_compatible_with(have):
                    return (
                        f"Function '{self._name}', node '{name}': input {index} "
                        f"expected type {wanted[index].name} != {have.name}, the type "
                        f"of '{edge[0]}'"
                    )
        for arg, edge in zip(self._signature.outputs, returns, strict=True):
            (want,), have = arg_types(arg, {}), dtype_of(*edge)
            if want.base_dtype != have.base_dtype:
                return (
                    f"Function '{self._name}': invalid return type: output "
                    f"'{arg.name}' is {want.name}, and '{edge[0]}' gives {have.name}"
                )
        return ""

    def known_node(self, name: str, user: str = "") -> str:
        """The name, which must be a node's (or an argument's).

        Raises:
            InvalidArgumentError: it is not.
        """
        if name not in self._protos and name not in self._args:
            raise invalid(f"{self._place(user)}: Unknown node '{name}'")
        return name

    def _place(self, node: str) -> str:
        return f"Function '{self._name}'" + (f", node '{node}'" if node else "")

    def resolve(self, text: str, user: str = "") -> tuple[str, int]:
        """(producer, output index) of `argument` or `node:out:index`.

        Args:
            text: the reference.
            user: the node that has it, for the message.

        Raises:
            InvalidArgumentError: there is no such tensor.
        """
        name, _, rest = text.partition(":")
        if name in self._args and rest in ("", "0"):
            return name, 0
        arg_name, _, index = rest.partition(":")
        if name not in self._protos:
            raise invalid(f"{self._place(user)}: Unknown input '{text}'")
        offset = 0
        for arg in self._op_defs[name].outputs:
            count = len(arg_types(arg, self._attrs_of(name)))
            if arg.name == arg_name:
                position = int(index) if index.isascii() and index.isdigit() else 0
                if position < count:
                    return name, offset + position
            offset += count
        raise invalid(
            f"{self._place(user)}: '{text}' is not an output of node '{name}' "
            f"(op {self._protos[name].op})"
        )

    def _attrs_of(self, name: str) -> dict[str, Any]:
        attrs = self._attrs.get(name)
        if attrs is None:
            decoded = attr_value.attrs_from_proto(self._protos[name].attr)
            attrs = node_def.complete_attrs(self._op_defs[name], decoded)
            self._attrs[name] = attrs
        return attrs
