"""Transforms that change which nodes there are, and how they are called."""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import attr_value, dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.tools.graph_transforms import nodes
from tensorloom.tools.graph_transforms.matching import sorted_nodes
from tensorloom.tools.graph_transforms.request import invalid

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.tools.graph_transforms.request import Request


def _any_op(request: Request) -> Callable[[Any], bool]:
    """Whether a node is of the op that `op_name` names: all are of `*`."""
    op = request.one("op_name", "*")
    return lambda node: op in ("*", node.op)


def strip_unused_nodes(graph: Any, request: Request) -> Any:
    """What the outputs need, with placeholders for the inputs.

    Parameters: `type` and `shape` of the placeholders; for single ones `name` with
    `type_for_name` and `shape_for_name`, as often as there are names.

    Raises:
      InvalidArgumentError: an output is not there, or a type or shape is none.
    """
    inputs = {nodes.node_of(name) for name in request.inputs}
    found = nodes.by_name(graph)
    needed: set[str] = set()
    waiting = [nodes.node_of(name) for name in request.outputs]
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        needed.add(name)
        if name in inputs:
            continue
        if name not in found:
            raise invalid(f"Input node {name} not found in graph")
        waiting += map(nodes.node_of, found[name].input)
    kept = []
    for node in graph.node:
        if node.name in inputs and node.op != "Placeholder":
            dtype, shape = _placeholder_of(node.name, request)
            node = nodes.node("Placeholder", node.name, dtype=dtype, shape=shape)
        if node.name in needed | inputs:
            kept.append(node)
    return nodes.with_nodes(graph, kept)


def _placeholder_of(name: str, request: Request) -> tuple[DType, TensorShape]:
    """The dtype and shape of the placeholder of that name."""
    type_text, shape_text = request.one("type", "float"), request.one("shape", "")
    names = request.parameters.get("name", [])
    for what in ("type_for_name", "shape_for_name"):
        texts = request.parameters.get(what)
        if texts is not None and len(texts) != len(names):
            raise invalid(f"You must pass a '{what}' arg for every 'name'")
        if texts is not None and name in names:
            text = texts[names.index(name)]
            if what == "type_for_name":
                type_text = text
            else:
                shape_text = text
    word = type_text.lower().removeprefix("dt_")
    try:
        dtype = dtypes.as_dtype(
            {"float": "float32", "double": "float64"}.get(word, word)
        )
    except TypeError:
        raise invalid(f"Couldn't understand type argument '{type_text}'") from None
    try:
        sizes = [int(size) for size in filter(None, shape_text.split(","))]
    except ValueError:
        raise invalid(f"Could parse as shape: '{shape_text}'") from None
    return dtype, TensorShape(sizes)


def remove_nodes(graph: Any, request: Request) -> Any:
    """Nodes of the ops that `op` names go; what reads them reads their first input.

    Nodes with more than `max_inputs` inputs (1) stay, and what is fed or fetched.

    Raises:
      InvalidArgumentError: no op is named.
    """
    if "op" not in request.parameters:
        raise invalid(
            "remove_nodes expects at least one 'op' argument, e.g. "
            "remove_nodes(op=Identity)"
        )
    kept = {nodes.node_of(name) for name in (*request.inputs, *request.outputs)}
    most = request.integer("max_inputs", 1)
    for op in request.parameters["op"]:
        renamed: dict[str, str] = {}
        for node in graph.node:
            data = [name for name in node.input if not name.startswith("^")]
            if node.op == op and node.name not in kept and 0 < len(data) <= most:
                renamed[node.name] = data[0]
                renamed[f"^{node.name}"] = f"^{nodes.node_of(data[0])}"
        left = [node for node in graph.node if node.name not in renamed]
        graph = nodes.with_renamed_inputs(nodes.with_nodes(graph, left), renamed)
    return graph


def merge_duplicate_nodes(graph: Any, request: Request) -> Any:
    """Of nodes that compute the same from the same, one stays.

    Raises:
      InvalidArgumentError: a node's op is not known.
    """
    kept = {*request.inputs, *request.outputs}
    while True:
        known: dict[bytes, str] = {}
        renamed: dict[str, str] = {}
        left = []
        for node in graph.node:
            same = nodes.copy(
                node,
                name=node.name if node.name in kept else "",
                input=[nodes.canonical(name) for name in node.input],
            )
            key = same.SerializeToString(deterministic=True)
            first = known.setdefault(key, node.name)
            if first == node.name or nodes.is_stateful(node.op):
                left.append(node)
            else:
                renamed[f"{node.name}:*"] = first
        if not renamed:
            return graph
        graph = nodes.with_renamed_inputs(nodes.with_nodes(graph, left), renamed)


_DIGITS: Final = string.digits + string.ascii_lowercase + string.ascii_uppercase


def obfuscate_names(graph: Any, request: Request) -> Any:
    """Short names for all nodes that are neither fed nor fetched."""
    kept = {*request.inputs, *request.outputs}
    numbers = itertools.count()
    new: dict[str, str] = {}
    for node in graph.node:
        short = node.name
        if node.name not in kept:
            short = _short(next(numbers))
            while short in kept:
                short = _short(next(numbers))
        new[node.name] = short
    for node in graph.node:
        for at, name in enumerate(node.input):
            hat, inner, port = nodes.parts_of(name)
            if inner not in new:
                raise invalid(f"No node named {inner} for input to {node.name}")
            node.input[at] = f"{hat}{new[inner]}{port}"
        node.name = new[node.name]
    return graph


def _short(number: int) -> str:
    """A number written with digits and letters."""
    text = _DIGITS[number % len(_DIGITS)]
    while number := number // len(_DIGITS):
        text = _DIGITS[number % len(_DIGITS)] + text
    return text


def remove_device(graph: Any, request: Request) -> Any:
    """No node is placed on a device."""
    for node in graph.node:
        node.device = ""
    return graph


def set_device(graph: Any, request: Request) -> Any:
    """All nodes, or with `if_default` those without one, are placed on `device`."""
    device, only_default = request.one("device", ""), request.flag("if_default")
    for node in graph.node:
        if not only_default or not node.device:
            node.device = device
    return graph


def remove_control_dependencies(graph: Any, request: Request) -> Any:
    """No node waits for one that it reads nothing of."""
    for node in graph.node:
        names = [name for name in node.input if not name.startswith("^")]
        del node.input[:]
        node.input.extend(names)
    return graph


def remove_attribute(graph: Any, request: Request) -> Any:
    """The attr `attribute_name` goes, of nodes of op `op_name`."""
    example = "remove_attribute(op_name=Mul, attribute_name=foo)"
    name, fits = request.required("attribute_name", example), _any_op(request)
    for node in graph.node:
        if fits(node):
            node.attr.pop(name, None)
    return graph


def rename_attribute(graph: Any, request: Request) -> Any:
    """The attr `old_attribute_name` gets the name `new_attribute_name`."""
    example = "rename_attribute(old_attribute_name=foo, new_attribute_name=bar)"
    old, fits = request.required("old_attribute_name", example), _any_op(request)
    new = request.required("new_attribute_name", example)
    for node in graph.node:
        if fits(node) and old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]
    return graph


def rename_op(graph: Any, request: Request) -> Any:
    """Nodes of op `old_op_name` become nodes of op `new_op_name`."""
    example = "rename_op(old_op_name=Mul, new_op_name=Multiply)"
    old = request.required("old_op_name", example)
    new = request.required("new_op_name", example)
    for node in graph.node:
        if node.op == old:
            node.op = new
    return graph


def add_default_attributes(graph: Any, request: Request) -> Any:
    """Attrs that a node does not have get their op's default."""
    for node in graph.node:
        op_def = op_registry.find(node.op)
        for attr in op_def.attrs.values() if op_def is not None else ():
            if attr.has_default and attr.name not in node.attr:
                value = attr_value.to_proto(attr.default)
                node.attr[attr.name].CopyFrom(value)
    return graph


def sort_by_execution_order(graph: Any, request: Request) -> Any:
    """Each node stands after those that it reads.

    Raises:
      InvalidArgumentError: the graph has a cycle.
    """
    return nodes.with_nodes(graph, sorted_nodes(graph))
