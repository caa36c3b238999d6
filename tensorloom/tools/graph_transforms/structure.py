"""Transforms that change which nodes there are, and how they are called."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.client.importing.graph_util import extract_sub_graph
from tensorloom.framework import errors
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import attr_value, dtypes
from tensorloom.tools.optimize_for_inference_lib import node_name_from_input

if TYPE_CHECKING:
    from tensorloom.tools.graph_transforms.request import Request


def _any_op(request: Request) -> Callable[[Any], bool]:
    """Whether a node is of the op that `op_name` names: all are of `*`."""
    op = request.one("op_name", "*")
    return lambda node: op in ("*", node.op)


def strip_unused_nodes(graph: Any, request: Request) -> Any:
    """What the outputs need, with placeholders for the inputs.

    Parameters: `type` and `shape` of the placeholders.
    """
    dtype = dtypes.as_dtype(request.one("type", "float32").lower().removeprefix("dt_"))
    shape = request.one("shape", "")
    for node in graph.node:
        if node.name in request.inputs and node.op != "Placeholder":
            node.op = "Placeholder"
            del node.input[:]
            node.attr.clear()
            node.attr["dtype"].type = dtype.as_datatype_enum
            for size in filter(None, shape.split(",")):
                node.attr["shape"].shape.dim.add().size = int(size)
    return extract_sub_graph(graph, request.outputs)


def remove_nodes(graph: Any, request: Request) -> Any:
    """Nodes of the ops that `op` names go; what reads them reads their first input."""
    ops = request.parameters.get("op", [])
    kept = {*request.inputs, *request.outputs}
    most = int(request.one("max_inputs", "1"))
    instead = {
        node.name: node.input[0]
        for node in graph.node
        if node.op in ops
        and node.name not in kept
        and 0 < len([i for i in node.input if not i.startswith("^")]) <= most
        and not any(name.startswith("^") for name in node.input)
    }
    _redirect(graph, instead)
    return _without(graph, instead)


def _redirect(graph: Any, instead: Mapping[str, str]) -> None:
    """Reads other tensors where nodes go, through chains of such nodes too."""
    for node in graph.node:
        for i, name in enumerate(node.input):
            control = name.startswith("^")
            while node_name_from_input(name) in instead:
                name = instead[node_name_from_input(name)]
                if control:
                    name = f"^{node_name_from_input(name)}"
            node.input[i] = name


def _without(graph: Any, gone: Any) -> Any:
    result = type(graph)()
    result.CopyFrom(graph)
    del result.node[:]
    result.node.extend(node for node in graph.node if node.name not in gone)
    return result


def merge_duplicate_nodes(graph: Any, request: Request) -> Any:
    """Of nodes that compute the same from the same, one stays."""
    kept = {*request.inputs, *request.outputs}
    while True:
        known: dict[bytes, str] = {}
        instead: dict[str, str] = {}
        for node in graph.node:
            op_def = op_registry.find(node.op)
            if node.name in kept or op_def is None or op_def.is_stateful:
                continue
            same = type(node)()
            same.CopyFrom(node)
            same.name = ""
            key = same.SerializeToString(deterministic=True)
            if known.setdefault(key, node.name) != node.name:
                instead[node.name] = known[key]
        if not instead:
            return graph
        for node in graph.node:
            for i, name in enumerate(node.input):
                inner = node_name_from_input(name)
                if inner in instead:
                    node.input[i] = name.replace(inner, instead[inner], 1)
        graph = _without(graph, instead)


def obfuscate_names(graph: Any, request: Request) -> Any:
    """Short names for all nodes that are neither fed nor fetched."""
    kept = {*request.inputs, *request.outputs}
    names = {n.name for n in graph.node}
    new: dict[str, str] = {}
    for number, node in enumerate(graph.node):
        short = f"n{number:x}"
        while short in names:
            short = f"n{hashlib.sha256(short.encode()).hexdigest()[:8]}"
        new[node.name] = node.name if node.name in kept else short
    for node in graph.node:
        node.name = new[node.name]
        for i, name in enumerate(node.input):
            inner = node_name_from_input(name)
            node.input[i] = name.replace(inner, new[inner], 1)
    return graph


def remove_device(graph: Any, request: Request) -> Any:
    """No node is placed on a device."""
    for node in graph.node:
        node.device = ""
    return graph


def set_device(graph: Any, request: Request) -> Any:
    """All nodes, or with `if_default` those without one, are placed on `device`."""
    device, only_default = request.one("device"), request.flag("if_default")
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
    name, fits = request.one("attribute_name"), _any_op(request)
    for node in graph.node:
        if fits(node):
            node.attr.pop(name, None)
    return graph


def rename_attribute(graph: Any, request: Request) -> Any:
    """The attr `old_attribute_name` gets the name `new_attribute_name`."""
    old, fits = request.one("old_attribute_name"), _any_op(request)
    new = request.one("new_attribute_name")
    for node in graph.node:
        if fits(node) and old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]
    return graph


def rename_op(graph: Any, request: Request) -> Any:
    """Nodes of op `old_op_name` become nodes of op `new_op_name`."""
    old, new = request.one("old_op_name"), request.one("new_op_name")
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
    nodes = {node.name: node for node in graph.node}
    waiting = {
        name: {node_name_from_input(i) for i in node.input} & nodes.keys()
        for name, node in nodes.items()
    }
    result = type(graph)()
    result.CopyFrom(graph)
    del result.node[:]
    while waiting:
        ready = [name for name, inputs in waiting.items() if not inputs]
        if not ready:
            raise errors.InvalidArgumentError(
                None, None, f"The graph has a cycle through {sorted(waiting)[:5]}"
            )
        for name in ready:
            result.node.add().CopyFrom(nodes[name])
            del waiting[name]
        done = set(ready)
        for inputs in waiting.values():
            inputs -= done
    return result
