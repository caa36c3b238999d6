"""Frozen graphs: a GraphDef in a file becomes a model with one signature.

    BASE_PATH/1/ANY_NAME.pb

Its inputs are the placeholders, by name; its outputs what no other node reads.
"""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.serving.manager import signature
from tensorloom.storage.files import filesystem

_PLACEHOLDERS: Final = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")
# Nobody reads these, and nobody wants them.
_NO_OUTPUTS: Final = ("Const", "NoOp", "Assert", *_PLACEHOLDERS)


def find_frozen_graph(path: str) -> str | None:
    """The file of a directory that is a frozen graph; None where there is none.

    Raises:
      errors.InvalidArgumentError: there are several.
    """
    names = [n for n in filesystem.list_directory(path) if n.endswith(".pb")]
    if len(names) > 1:
        raise errors.InvalidArgumentError(
            None, None, f"{path} has several graphs: {', '.join(sorted(names))}"
        )
    return filesystem.join(path, names[0]) if names else None


def read_frozen_graph(file: str) -> Any:
    """The file as a `MetaGraphDef` with a default signature; shapes are not in it.

    Raises:
      errors.InvalidArgumentError: it is no GraphDef, or has no outputs.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.meta_graph_pb2 import MetaGraphDef

    meta_graph: Any = MetaGraphDef()
    try:
        meta_graph.graph_def.ParseFromString(filesystem.read_file(file))
    except DecodeError as error:
        raise errors.InvalidArgumentError(
            None, None, f"{file} is no GraphDef: {error}"
        ) from None
    nodes = meta_graph.graph_def.node
    read = {_node_name(source) for node in nodes for source in node.input}
    found = meta_graph.signature_def[signature.DEFAULT_KEY]
    found.method_name = signature.PREDICT_METHOD
    for node in nodes:
        if node.op in _PLACEHOLDERS:
            found.inputs[node.name].name = f"{node.name}:0"
        elif node.name not in read and node.op not in _NO_OUTPUTS:
            found.outputs[node.name].name = f"{node.name}:0"
    if not found.outputs:
        raise errors.InvalidArgumentError(
            None, None, f"{file}: every node is read by another; none is an output"
        )
    return meta_graph


def add_types(meta_graph: Any, graph: Any) -> None:
    """Fills in dtypes and shapes, once the graph is imported."""
    found = meta_graph.signature_def[signature.DEFAULT_KEY]
    for info in (*found.inputs.values(), *found.outputs.values()):
        tensor = graph.get_tensor_by_name(info.name)
        info.dtype = tensor.dtype.base_dtype.as_datatype_enum
        info.tensor_shape.CopyFrom(tensor.get_shape().as_proto())


def _node_name(source: str) -> str:
    return source.removeprefix("^").split(":")[0]
