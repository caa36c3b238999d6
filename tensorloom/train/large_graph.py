"""Graphs above 2 GB: a GraphDef without its large constants, which lie beside it.

A protobuf message ends at 2 GB. `write_large_graph` writes `PATH`, a GraphDef whose
large `Const` nodes have no `value` but its key, and `PATH.constants.*`, a tensor bundle
with the values. A reader that does not know of it says that `value` is missing, and
computes nothing wrong; `import_large_graph` puts the two together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.client.importer import import_graph_def
from tensorloom.framework import dtypes, errors, graph_def, tensor_proto
from tensorloom.storage import filesystem
from tensorloom.storage.bundle_reader import BundleReader
from tensorloom.storage.bundle_writer import BundleWriter
from tensorloom.train.meta_graph import write_message

if TYPE_CHECKING:
    from tensorloom.framework.dataflow_graph import Graph
    from tensorloom.framework.graph_ir import Node

_KEY: Final = "_external_value"
_SUFFIX: Final = ".constants"
# What is smaller stays in the message, where shape inference sees it.
_THRESHOLD: Final = 1 << 20


def constant_bytes(graph: Graph) -> int:
    """How many bytes the constants of a graph have."""
    return sum(
        value.nbytes
        for op in graph.get_operations()
        if op.type == "Const"
        and isinstance(value := op._attrs.get("value"), np.ndarray)
        and any(value.strides)
    )


def write_large_graph(
    graph: Graph, path: Any, threshold_bytes: int = _THRESHOLD
) -> str:
    """Writes a graph of any size; the constants first, so that the graph is whole.

    Args:
      path: of the GraphDef, of any file system; `.constants.*` lie beside it.
      threshold_bytes: constants of that size and more are split out.

    Returns:
      The path.

    Raises:
      ValueError: without its large constants the graph has more than 2 GB still.
    """
    file: str = filesystem.path_text(path)
    if filesystem.parent(file):
        filesystem.make_directories(filesystem.parent(file))
    with BundleWriter(file + _SUFFIX) as writer:
        slim = split_constants(graph, writer, threshold_bytes=threshold_bytes)
        writer.finish()
    write_message(slim, file, as_text=False)
    return file


def constants_prefix(path: str) -> str:
    """The bundle of the constants of a message's file."""
    return path + _SUFFIX


def split_constants(
    graph: Graph,
    writer: BundleWriter,
    key_prefix: bytes = b"",
    threshold_bytes: int = _THRESHOLD,
    add_shapes: bool = False,
) -> Any:
    """The GraphDef of a graph without its large constants, which `writer` gets.

    Args:
      key_prefix: of their keys, which else are the nodes' names.
      threshold_bytes: constants of that size and more are split out.
      add_shapes: nodes have attrs with the shapes of their outputs.
    """
    ir = graph.to_ir()
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
    threshold_bytes: int = _THRESHOLD,
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
    is_large = len(tensor.tensor_content) >= threshold_bytes
    return tensor_proto.decode_tensor(tensor) if is_large else None


def message_constant_bytes(proto: Any) -> int:
    """How many bytes the constants of a GraphDef have, but for small ones."""
    return sum(
        len(node.attr["value"].tensor.tensor_content)
        for node in proto.node
        if node.op == "Const"
    )


def _is_large(node: Node, threshold_bytes: int) -> bool:
    value = node.attrs.get("value")
    return (
        node.op == "Const"
        and isinstance(value, np.ndarray)
        and value.dtype != object
        and value.nbytes >= threshold_bytes
        and any(value.strides)
    )


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
    proto = graph_def.parse(filesystem.read_file(path))
    prefix = constants_prefix(path) if has_outside_constants(proto) else ""
    return import_with_constants(proto, prefix, input_map, return_elements, name)


def import_with_constants(
    proto: Any,
    prefix: str,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
) -> list[Any] | None:
    """Adds a GraphDef whose large constants lie in a bundle; it is changed.

    Args:
      prefix: the bundle; empty when no constant is outside.
    """
    if not prefix:
        return import_graph_def(proto, dict(input_map or {}), return_elements, name)
    with BundleReader(prefix) as reader:
        keys = put_zeros(proto, reader)
        wanted = list(return_elements or ())
        elements = [*wanted, *keys]
        found = import_graph_def(proto, dict(input_map or {}), elements, name)
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
