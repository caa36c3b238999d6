"""Names, inputs and constants of the nodes of a GraphDef."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import attr_value, dtypes
from tensorloom.framework.types.tensor_proto import make_ndarray, make_tensor_proto
from tensorloom.protos.node_def_pb2 import NodeDef
from tensorloom.tools.graph_transforms.request import invalid

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


def parts_of(name: str) -> tuple[str, str, str]:
    """The hat, the node's name and the port of an input such as `^a` or `a:1`."""
    node, colon, port = name.partition(":")
    hat = "^" if node.startswith("^") else ""
    return hat, node.removeprefix("^"), colon + port


def node_of(name: str) -> str:
    """The node's name of an input such as `^a` or `a:1`."""
    return parts_of(name)[1]


def canonical(name: str) -> str:
    """An input with its port said."""
    hat, node, port = parts_of(name)
    return f"{hat}{node}{port or ':0'}"


def by_name(graph: Any) -> dict[str, NodeDef]:
    """The nodes of a graph by their names."""
    return {node.name: node for node in graph.node}


def with_nodes(graph: Any, nodes: Iterable[Any]) -> Any:
    """A graph with other nodes and all else as it was."""
    result = type(graph)()
    result.versions.CopyFrom(graph.versions)
    result.library.CopyFrom(graph.library)
    result.node.extend(nodes)
    return result


def node(op: str, name: str, inputs: Sequence[str] = (), **attrs: Any) -> NodeDef:
    """A new node. An attr is a DType, bytes, a bool, a number or an array."""
    made = NodeDef(op=op, name=name, input=inputs)
    for attr, value in attrs.items():
        if isinstance(value, np.ndarray):
            made.attr[attr].tensor.CopyFrom(make_tensor_proto(value))
        else:
            made.attr[attr].CopyFrom(attr_value.to_proto(value))
    return made


def constant(name: str, value: Any, dtype: DType | None = None) -> NodeDef:
    """A Const of an array; of `dtype` where the array's does not tell it."""
    array = np.asarray(value)
    dtype = dtypes.as_dtype(array.dtype) if dtype is None else dtype
    made = NodeDef(op="Const", name=name)
    made.attr["dtype"].CopyFrom(attr_value.to_proto(dtype))
    made.attr["value"].tensor.CopyFrom(make_tensor_proto(array, dtype=dtype))
    return made


def copy(original: NodeDef, **changes: Any) -> NodeDef:
    """A node with another name, op or list of inputs."""
    made = NodeDef()
    made.CopyFrom(original)
    inputs = changes.pop("input", None)
    for field, value in changes.items():
        setattr(made, field, value)
    if inputs is not None:
        del made.input[:]
        made.input.extend(inputs)
    return made


def copy_attrs(source: NodeDef, made: NodeDef, *names: str, **renamed: str) -> NodeDef:
    """Gives a new node attrs of another; `renamed` are those with a new name."""
    for new, old in ({name: name for name in names} | renamed).items():
        if old in source.attr:
            made.attr[new].CopyFrom(source.attr[old])
    return made


def value_of(const: NodeDef) -> Any:
    """The array of a Const. Raises InvalidArgumentError if it has none."""
    for attr in ("dtype", "value"):
        if attr not in const.attr:
            raise invalid(f"No '{attr}' attribute for Const node {const.name}")
    return make_ndarray(const.attr["value"].tensor)


def is_float(const: NodeDef) -> bool:
    """Whether a Const is of float32."""
    return const.attr["dtype"].type == dtypes.float32.as_datatype_enum


def types_of(node_def: NodeDef) -> tuple[list[DType], list[DType]]:
    """The dtypes of the inputs and outputs of a node.

    Raises:
      InvalidArgumentError: its op is not known, or an attr is missing.
    """
    op_def = op_registry.find(node_def.op)
    if op_def is None:
        raise invalid(f"Op type not registered '{node_def.op}' ({node_def.name})")
    attrs = {name: attr_value.from_proto(node_def.attr[name]) for name in node_def.attr}
    attrs = op_def.fill_defaults(attrs)
    try:
        return op_def.input_types(attrs), op_def.output_types(attrs)
    except KeyError as error:
        raise invalid(f"Node {node_def.name} has no attr {error}") from error


def is_stateful(op: str) -> bool:
    """Whether nodes of an op may not be merged or computed ahead.

    Raises:
      InvalidArgumentError: the op is not known.
    """
    op_def = op_registry.find(op)
    if op_def is None:
        raise invalid(f"Op type not registered '{op}'")
    return op_def.is_stateful


def with_renamed_inputs(
    graph: Any, renamed: Mapping[str, str], but: Iterable[str] = ()
) -> Any:
    """A graph whose nodes read other tensors.

    Args:
      graph: GraphDef; it is changed.
      renamed: by an input, as `a`, `a:1` or `^a`, what stands in its place. `a:*` is
        every output of `a` and its control output, with the name of another node.
      but: names of nodes that go on reading what they read.

    Raises:
      InvalidArgumentError: names stand for each other in a circle.
    """
    exact = {canonical(old): new for old, new in renamed.items() if old[-2:] != ":*"}
    whole = {old[:-2]: new for old, new in renamed.items() if old[-2:] == ":*"}
    ignored = set(but)
    for one in graph.node:
        if one.name in ignored:
            continue
        for at, name in enumerate(one.input):
            seen: set[str] = set()
            while True:
                hat, inner, port = parts_of(name)
                if inner in whole:
                    new = f"{hat}{whole[inner]}{port}"
                elif canonical(name) in exact:
                    new = exact[canonical(name)]
                else:
                    break
                if inner in seen:
                    raise invalid(
                        f"RenameNodeInputs argument contains a cycle for {inner}"
                    )
                seen.add(inner)
                name = new
            one.input[at] = name
    return graph
