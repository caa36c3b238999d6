"""`GraphIR` to the `GraphDef` proto and back.

What comes from outside is checked on the way in: names, versions, attrs against the op
definitions, and every edge against the producer's outputs and their dtypes.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import (
    InvalidArgumentError,
    UnimplementedError,
    invalid_argument,
)
from tensorloom.framework.functions import function_def
from tensorloom.framework.functions.function_op_def import signature_of
from tensorloom.framework.graph import node_def, node_reader
from tensorloom.framework.graph.graph_ir import (
    PRODUCER_VERSION,
    FunctionIR,
    GraphIR,
    Node,
    sort_topologically,
)
from tensorloom.framework.graph.node_def import check_name, find_op, split_inputs
from tensorloom.framework.graph.node_def import to_proto as node_to_proto
from tensorloom.framework.registry import op_def_proto, op_registry
from tensorloom.framework.types import attr_value
from tensorloom.framework.types.dtype_words import dtype_word
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.framework.types.unreadable_tensor import unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tensorloom.framework.registry.op_registry import OpDef
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.protos import function_pb2, graph_pb2, op_def_pb2

__all__ = (
    "from_proto",
    "function_library_to_proto",
    "functions_from_proto",
    "node_to_proto",
    "parse",
    "strip_new_default_attrs",
    "to_proto",
)

_MAX_BYTES = 2**31 - 1


# Writing --------------------------------------------------------------------------


def to_proto(graph: GraphIR) -> graph_pb2.GraphDef:
    """The graph as a message.

    Raises:
        ValueError: its constants alone exceed the 2 GB that a message may have.
    """
    from tensorloom.protos.graph_pb2 import GraphDef

    size = sum(
        value.nbytes
        for node in graph.nodes.values()
        for value in node.attrs.values()
        if isinstance(value, np.ndarray) and any(value.strides)
    )
    if size > _MAX_BYTES:
        raise ValueError("GraphDef cannot be larger than 2GB.")
    proto = GraphDef()
    for node in graph.nodes.values():
        node_def.fill(proto.node.add(), node)
    if graph.functions:
        proto.library.CopyFrom(function_library_to_proto(graph.functions))
    proto.versions.producer = graph.producer
    proto.versions.min_consumer = graph.min_consumer
    proto.versions.bad_consumers.extend(graph.bad_consumers)
    return proto


def function_library_to_proto(
    functions: Mapping[str, FunctionIR],
) -> function_pb2.FunctionDefLibrary:
    """The functions, and which is whose gradient, as a message."""
    from tensorloom.protos.function_pb2 import FunctionDefLibrary

    library = FunctionDefLibrary()
    for function in functions.values():
        library.function.append(function_def.to_proto(function, functions))
        if function.gradient:
            library.gradient.add(
                function_name=function.name, gradient_func=function.gradient
            )
    return library


# Reading --------------------------------------------------------------------------


def parse(serialized: bytes) -> graph_pb2.GraphDef:
    """The message in bytes from outside.

    Raises:
        InvalidArgumentError: they are not a GraphDef.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.graph_pb2 import GraphDef

    try:
        return GraphDef.FromString(serialized)
    except DecodeError as error:
        raise invalid_argument(f"Invalid GraphDef: {error}") from None


def from_proto(
    proto: graph_pb2.GraphDef,
    functions: Mapping[str, FunctionIR] | None = None,
    internal: bool = False,
    existing: Mapping[str, Node] | None = None,
) -> GraphIR:
    """The graph in a message, nodes in topological order.

    Args:
        proto: the message.
        functions: functions that are known beside those of its library.
        internal: names may be those of nodes that the runtime adds.
        existing: nodes of the graph that this one extends; they are not in the result.

    Raises:
        InvalidArgumentError: the versions exclude us, a name is malformed or not
            unique, an attr is malformed, or an edge does not fit.
        NotFoundError: an op is not known.
        UnimplementedError: an op is one that graphs of this version have no more.
    """
    check_versions(proto)
    known = dict(functions or {})
    known.update(functions_from_proto(proto.library, known))
    signatures = {name: signature_of(function) for name, function in known.items()}
    nodes: dict[str, Node] = {}
    input_types: list[list[DType]] = []
    reader = node_reader.NodeReader()
    check_available((each.op for each in proto.node), proto.versions.producer)
    for node_proto in proto.node:
        node, types = _read_node(node_proto, signatures, internal, reader)
        if node.name in nodes:
            raise invalid_argument(f"Node '{node.name}' is not unique")
        if proto.versions.producer <= _UNTOLD_SCALARS and node.op == "Placeholder":
            node = _with_untold_shape(node)
        nodes[node.name] = node
        input_types.append(types)
    producers = {**existing, **nodes} if existing else nodes
    for node, types in zip(nodes.values(), input_types, strict=True):
        _check_edges(node, producers, types)
    ordered = sort_topologically(nodes, existing or ())
    return GraphIR(
        {node.name: node for node in ordered},
        known,
        proto.versions.producer,
        proto.versions.min_consumer,
        tuple(proto.versions.bad_consumers),
    )


# Up to this version, a placeholder of any shape is written as one of a scalar.
_UNTOLD_SCALARS = 21


def _with_untold_shape(placeholder: Node) -> Node:
    shape = placeholder.attrs.get("shape")
    if shape is None or shape.rank != 0:
        return placeholder
    return placeholder.replace(attrs={**placeholder.attrs, "shape": TensorShape(None)})


# The version whose graphs these are, for messages that programs look for.
_TENSORFLOW = "TensorFlow 1.15.0"


def check_versions(proto: graph_pb2.GraphDef) -> None:
    """Raises InvalidArgumentError if the graph says that we cannot read it."""
    versions = proto.versions
    if versions.producer < 0:
        raise invalid_argument(
            f"GraphDef producer version {versions.producer} below min producer 0 "
            f"supported by {_TENSORFLOW}.  Please regenerate your graph."
        )
    if versions.min_consumer > PRODUCER_VERSION:
        raise invalid_argument(
            f"GraphDef min consumer version {versions.min_consumer} above current "
            f"version {PRODUCER_VERSION} for {_TENSORFLOW}.  Please upgrade TensorFlow."
        )
    if PRODUCER_VERSION in versions.bad_consumers:
        raise invalid_argument(
            f"GraphDef disallows consumer version {PRODUCER_VERSION}.  Please upgrade "
            "TensorFlow: this version is likely buggy."
        )


def check_available(ops: Iterable[str], producer: int) -> None:
    """Raises UnimplementedError for an op that graphs of a version have no more."""
    for op in set(ops):
        op_def = op_registry.find(op)
        if op_def is not None and op_def.deprecated is not None:
            why = op_def.removal_message(producer)
            if why:
                raise UnimplementedError(None, None, why)


def functions_from_proto(
    library: function_pb2.FunctionDefLibrary,
    known: Mapping[str, FunctionIR] | None = None,
) -> dict[str, FunctionIR]:
    """The functions of a library, which may call each other and those known.

    What cannot be called is there as well, and has a problem.

    Raises:
        InvalidArgumentError: two functions have one name.
    """
    signatures = {name: signature_of(other) for name, other in (known or {}).items()}
    for function in library.function:
        signature = function_def.signature_from_proto(function)
        signatures[function.signature.name] = signature
    gradients = {item.function_name: item.gradient_func for item in library.gradient}
    functions = {}
    for function in library.function:
        name = function.signature.name
        if name not in functions:
            functions[name] = function_def.from_proto(
                function, signatures, gradients.get(name, "")
            )
        elif any(f.signature.name == name and f != function for f in library.function):
            raise invalid_argument(f"Function '{name}' is not unique")
    return functions


def _read_node(
    proto: Any,
    signatures: node_def.Signatures,
    internal: bool,
    reader: node_reader.NodeReader,
) -> tuple[Node, list[DType]]:
    check_name(proto.name, internal)
    if not proto.op:
        raise invalid_argument(f"Node '{proto.name}' does not specify an operation")
    op_def = find_op(proto.op, signatures)
    inputs, controls = split_inputs(proto.input, proto.name)
    try:
        return reader.read(proto, op_def, inputs, controls)
    except InvalidArgumentError as error:
        is_tensor = "value" in proto.attr and proto.attr["value"].HasField("tensor")
        if op_def.name != "Const" or not is_tensor:
            raise
        return _read_unreadable(proto, op_def, reader, error), []


def _read_unreadable(
    proto: Any,
    op_def: OpDef,
    reader: node_reader.NodeReader,
    error: InvalidArgumentError,
) -> Node:
    """A constant whose value alone is wrong.

    Raises:
        InvalidArgumentError: something else is.
    """
    value = unreadable(proto.attr["value"].tensor, error.message)
    copy = type(proto)()
    copy.CopyFrom(proto)
    tensor = copy.attr["value"].tensor
    tensor.Clear()
    tensor.dtype = copy.attr["dtype"].type
    tensor.tensor_shape.dim.add().size = 0
    inputs, controls = split_inputs(proto.input, proto.name)
    node, _ = reader.read(copy, op_def, inputs, controls)
    node.attrs["value"] = value
    return node


def _check_edges(
    node: Node, nodes: Mapping[str, Node], expected_types: Sequence[DType]
) -> None:
    for name in node.control_inputs:
        if name not in nodes:
            raise invalid_argument(f"Node '{node.name}': Unknown input node '^{name}'")
    if not node.inputs:
        return
    for position, (name, index) in enumerate(node.inputs):
        producer = nodes.get(name)
        if producer is None:
            text = node_def.tensor_name(name, index)
            raise invalid_argument(f"Node '{node.name}': Unknown input node '{text}'")
        if index >= len(producer.output_types):
            raise invalid_argument(
                f"Node '{node.name}': Connecting to invalid output {index} of source "
                f"node {name} which has {len(producer.output_types)} outputs."
            )
        passed, expected = producer.output_types[index], expected_types[position]
        if passed is not expected and not expected.is_compatible_with(passed):
            raise invalid_argument(
                f"Input {position} of node {node.name} was passed "
                f"{dtype_word(passed)} from {name}:{index} incompatible with expected "
                f"{dtype_word(expected)}."
            )


def strip_new_default_attrs(
    proto: graph_pb2.GraphDef, producer_ops: op_def_pb2.OpList
) -> None:
    """Removes attrs that our ops do not have, where they say the producer's default.

    A newer producer may have added an attr to an op; as long as it has its default
    value, the node means what it meant before.

    Raises:
        InvalidArgumentError: a definition of the producer's is malformed.
    """
    producer = {op.name: op for op in producer_ops.op}
    for node in chain(proto.node, *(f.node_def for f in proto.library.function)):
        ours, theirs = op_registry.find(node.op), producer.get(node.op)
        if ours is None or theirs is None:
            continue
        defaults = op_def_proto.from_proto(theirs).attrs
        for name in [name for name in node.attr if name not in ours.attrs]:
            attr = defaults.get(name)
            if attr is None or not attr.has_default:
                continue
            try:
                value = attr_value.from_proto(node.attr[name])
            except InvalidArgumentError:
                continue
            if _same_value(value, attr.default):
                del node.attr[name]


def _same_value(a: Any, b: Any) -> bool:
    return attr_value.to_proto(a) == attr_value.to_proto(b)
