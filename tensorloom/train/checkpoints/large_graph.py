"""Graphs above 2 GB: a GraphDef without its large constants, which lie beside it.

A protobuf message ends at 2 GB. `write_large_graph` writes `PATH`, a GraphDef whose
large `Const` nodes have no `value` but its key, and `PATH.constants.*`, a tensor bundle
with the values. A reader that does not know of it says that `value` is missing, and
computes nothing wrong; `import_large_graph` puts the two together. MetaGraphs and
SavedModels of such graphs have a bundle beside them, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.client.importing.importer import import_graph_def
from tensorloom.framework import errors
from tensorloom.framework.graph import graph_def
from tensorloom.framework.types import dtypes, tensor_proto
from tensorloom.storage.checkpoints.bundle_reader import BundleReader
from tensorloom.storage.checkpoints.bundle_writer import BundleWriter
from tensorloom.storage.files import filesystem
from tensorloom.train.checkpoints.message_text import write_message

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.graph_ir import Node

_KEY: Final = "_external_value"
_SUFFIX: Final = ".constants"
# What constants in a message may have: some room is for the nodes.
MAX_BYTES: Final = 2**31 - 2**26
# What is smaller stays in the message, where shape inference sees it, if it can.
_THRESHOLD: Final = 1 << 20
_LEAST_THRESHOLD: Final = 1 << 8


def constant_bytes(graph: Graph) -> int:
    """How many bytes the constants of a graph have."""
    return sum(
        _value_bytes(op._attrs.get("value"))
        for op in graph.get_operations()
        if op.type == "Const"
    )


def is_large(graph: Graph) -> bool:
    """Whether the constants of a graph are too large for a message."""
    return constant_bytes(graph) >= MAX_BYTES


def write_large_graph(
    graph: Graph, path: Any, threshold_bytes: int | None = None, as_text: bool = False
) -> str:
    """Writes a graph of any size; the constants first, so that the graph is whole.

    Args:
      path: of the GraphDef, of any file system; `.constants.*` lie beside it.
      threshold_bytes: constants of that size and more are split out; a megabyte, or
        less where the graph is too large still.
      as_text: text format instead of binary.

    Returns:
      The path.

    Raises:
      ValueError: without its large constants the graph has more than 2 GB still.
    """
    file: str = filesystem.path_text(path)
    write_message(write_constants(graph, file, threshold_bytes), file, as_text)
    return file


def write_constants(
    graph: Graph,
    path: str,
    threshold_bytes: int | None = None,
    add_shapes: bool = False,
) -> Any:
    """Writes the constants of a message at `path`; the GraphDef without them."""
    if filesystem.parent(path):
        filesystem.make_directories(filesystem.parent(path))
    with BundleWriter(constants_prefix(path)) as writer:
        slim = split_constants(graph, writer, b"", threshold_bytes, add_shapes)
        writer.finish()
    return slim


def constants_prefix(path: str) -> str:
    """The bundle of the constants of a message's file."""
    return path + _SUFFIX


def split_constants(
    graph: Graph,
    writer: BundleWriter,
    key_prefix: bytes = b"",
    threshold_bytes: int | None = None,
    add_shapes: bool = False,
) -> Any:
    """The GraphDef of a graph without its large constants, which `writer` gets.

    Args:
      key_prefix: of their keys, which else are the nodes' names.
      threshold_bytes: constants of that size and more are split out.
      add_shapes: nodes have attrs with the shapes of their outputs.
    """
    ir = graph.to_ir()
    if threshold_bytes is None:
        threshold_bytes = _threshold(
            _value_bytes(node.attrs.get("value"))
            for node in ir.nodes.values()
            if node.op == "Const"
        )
    large = [node for node in ir.nodes.values() if _is_large(node, threshold_bytes)]
    for node in sorted(large, key=lambda one: one.name.encode()):
        key = key_prefix + node.name.encode()
        writer.add(key, node.attrs["dtype"], node.attrs["value"])
    names = {node.name for node in large}
    slim = ir.with_nodes(
        _without_value(node, key_prefix) if node.name in names else node
        for node in ir.nodes.values()
    )
    proto = graph_def.to_proto(slim)
    if add_shapes:
        for node_def in proto.node:
            shapes = node_def.attr["_output_shapes"].list
            for output in graph.get_operation_by_name(node_def.name).outputs:
                shapes.shape.append(output.get_shape().as_proto())
    return proto


def write_large_message(
    proto: Any,
    path: Any,
    source: BundleReader | None = None,
    threshold_bytes: int | None = None,
    as_text: bool = False,
) -> str:
    """Writes a GraphDef of any size, as `write_large_graph` does a graph.

    Args:
      source: where constants of it lie that are outside already.

    Returns:
      The path.

    Raises:
      NotFoundError: a constant is not in `source`.
      DataLossError: it is damaged.
    """
    file: str = filesystem.path_text(path)
    slim = type(proto)(versions=proto.versions, library=proto.library)
    if threshold_bytes is None:
        threshold_bytes = _threshold(map(_message_bytes, proto.node))
    if filesystem.parent(file):
        filesystem.make_directories(filesystem.parent(file))
    with BundleWriter(file + _SUFFIX) as writer:
        for node in proto.node:
            value = _outside_value(node, source, threshold_bytes)
            if value is None:
                slim.node.add().CopyFrom(node)
                continue
            key = node.name.encode()
            writer.add(key, dtypes.as_dtype(node.attr["dtype"].type), value)
            copy = slim.node.add(name=node.name, op=node.op, device=node.device)
            copy.input.extend(node.input)  # what the constant waits for
            for name in node.attr:
                if name != "value":
                    copy.attr[name].CopyFrom(node.attr[name])
            copy.attr[_KEY].s = key
        writer.finish()
    write_message(slim, file, as_text)
    return file


def _outside_value(node: Any, source: BundleReader | None, threshold_bytes: int) -> Any:
    """What is to lie outside a message; None where the node stays as it is."""
    if node.op != "Const":
        return None
    if is_outside(node) and source is not None:
        return source.read(node.attr[_KEY].s)
    tensor = node.attr["value"].tensor
    size = len(tensor.tensor_content)
    return tensor_proto.decode_tensor(tensor) if 0 < size >= threshold_bytes else None


def message_constant_bytes(proto: Any) -> int:
    """How many bytes the constants of a GraphDef have, but for small ones."""
    return sum(map(_message_bytes, proto.node))


def _message_bytes(node: Any) -> int:
    """How many bytes of a NodeDef could lie outside."""
    if node.op != "Const":
        return 0
    return len(node.attr["value"].tensor.tensor_content)


def _value_bytes(value: Any) -> int:
    """The same of a value; one that is repeated in place takes none."""
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return 0
    return value.nbytes if any(value.strides) else 0


def _threshold(sizes: Iterable[int]) -> int:
    """From which size on constants lie outside, so that the others fit."""
    sizes = list(sizes)
    result = _THRESHOLD
    while (
        result > _LEAST_THRESHOLD
        and sum(size for size in sizes if size < result) >= MAX_BYTES
    ):
        result //= 4
    return result


def _is_large(node: Node, threshold_bytes: int) -> bool:
    size = _value_bytes(node.attrs.get("value")) if node.op == "Const" else 0
    return 0 < size >= threshold_bytes


def _without_value(node: Node, key_prefix: bytes) -> Node:
    attrs = {name: value for name, value in node.attrs.items() if name != "value"}
    attrs[_KEY] = key_prefix + node.name.encode()
    return node.replace(attrs=attrs)


def import_large_graph(
    path: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
) -> list[Any] | None:
    """Adds a graph that `write_large_graph` wrote to the default graph.

    A plain GraphDef file is imported, too. The arguments are those of
    `tf.import_graph_def`.

    Raises:
      errors.NotFoundError: a file or a constant is missing.
      errors.DataLossError: a constant is damaged.
      errors.InvalidArgumentError, ValueError: the graph is malformed.
    """
    path = filesystem.path_text(path)
    proto = _read_graph_def(path)
    prefix = constants_prefix(path) if has_outside_constants(proto) else ""
    return import_with_constants(proto, prefix, input_map, return_elements, name)


def _read_graph_def(path: str) -> Any:
    """A GraphDef in a file, binary or text."""
    from google.protobuf import text_format

    data = filesystem.read_file(path)
    try:
        return graph_def.parse(data)
    except errors.InvalidArgumentError as error:
        proto = graph_def.parse(b"")
        try:
            text_format.Merge(data.decode("utf-8"), proto)
        except (text_format.ParseError, UnicodeDecodeError):
            raise error from None
        return proto


def import_with_constants(
    proto: Any,
    prefix: str,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds a GraphDef whose large constants lie in a bundle; it is changed.

    Args:
      prefix: the bundle; empty when no constant is outside.
    """
    inputs = dict(input_map or {})
    if not prefix:
        return import_graph_def(
            proto, inputs, return_elements, name, producer_op_list=producer_op_list
        )
    with BundleReader(prefix) as reader:
        keys = put_zeros(proto, reader)
        wanted = list(return_elements or ())
        elements = [*wanted, *keys]
        found = import_graph_def(
            proto, inputs, elements, name, producer_op_list=producer_op_list
        )
        assert found is not None
        for op, key in zip(found[len(wanted) :], keys.values(), strict=True):
            put_value(op, reader, key)
    return found[: len(wanted)] if return_elements is not None else None


def has_outside_constants(proto: Any) -> bool:
    """Whether constants of a GraphDef lie beside its file."""
    return any(map(is_outside, proto.node))


def is_outside(node: Any) -> bool:
    """Whether a NodeDef is a constant whose value lies beside the file."""
    return node.op == "Const" and _KEY in node.attr


def outside_bytes(proto: Any, reader: BundleReader) -> int:
    """How many bytes lie beside the file of a GraphDef.

    Raises:
      NotFoundError: a value is not there.
    """
    keys = [node.attr[_KEY].s for node in proto.node if is_outside(node)]
    return sum(reader.entry(key).size for key in keys)


def put_zeros(proto: Any, reader: BundleReader) -> dict[str, bytes]:
    """Gives constants that lie elsewhere zeros, which take no memory, for the import.

    Returns:
      From their names to the keys of their values.

    Raises:
      NotFoundError: a value is not in the bundle.
      InvalidArgumentError: it has another dtype.
    """
    keys = {}
    for node in proto.node:
        if is_outside(node):
            keys[node.name] = put_zero(node, reader)
    return keys


def put_value(op: Any, reader: BundleReader, key: bytes) -> None:
    """Gives an imported constant its value.

    Raises:
      DataLossError: the value is damaged.
    """
    value = reader.read(key)
    value.flags.writeable = False
    op._attrs["value"] = value


def put_zero(node: Any, reader: BundleReader) -> bytes:
    """Gives one such constant a zero of its dtype and shape; returns its key.

    Raises:
      NotFoundError: its value is not in the bundle.
      InvalidArgumentError: it has another dtype.
    """
    key: bytes = node.attr[_KEY].s
    dtype, shape = reader.dtype(key), reader.shape(key)
    if dtype != dtypes.as_dtype(node.attr["dtype"].type):
        raise errors.InvalidArgumentError(
            None, None, f"constant '{node.name}' has dtype {dtype.name} in the bundle"
        )
    tensor = node.attr["value"].tensor
    tensor.dtype = dtype.as_datatype_enum
    for size in shape:
        tensor.tensor_shape.dim.add(size=size)
    del node.attr[_KEY]
    return key
