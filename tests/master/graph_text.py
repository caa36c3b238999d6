"""Graphs as short text, for tests of passes.

    x = _Arg<float32[2,3]>          an argument; `index` counts them
    c = Const<[1.0, 2.0]>           float32 for floats, int32 for ints
    y = Add(x, c:0, ^z)             data inputs, then control inputs
    t = Transpose(y, p) {N=2}       attrs that cannot be inferred
    u = NoOp(^y) @/device:CPU:1     a device
    r = _Retval(y)                  a result

Dtype attrs follow from the inputs, shapes from the ops' shape functions.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from tensorloom.cluster import local
from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.graph.node_shapes import infer_missing
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape

_LINE = re.compile(
    r"(?P<name>[\w/]+) = (?P<op>\w+)(?:<(?P<literal>.*?)>)?(?:\((?P<inputs>.*?)\))?"
    r"(?: \{(?P<attrs>.*?)\})?(?: @(?P<device>\S+))?$"
)


def parse(text: str) -> GraphIR:
    """The graph of a text, with shapes inferred."""
    nodes: dict[str, Node] = {}
    counts = {"_Arg": 0, "_Retval": 0}
    for line in text.strip().splitlines():
        match = _LINE.match(line.strip())
        assert match is not None, line
        node = _node(match, nodes, counts)
        nodes[node.name] = node
    return infer_missing(GraphIR(nodes))


def _node(match: re.Match[str], nodes: dict[str, Node], counts: dict[str, int]) -> Node:
    op, literal = match["op"], match["literal"]
    words = [w.strip() for w in (match["inputs"] or "").split(",") if w.strip()]
    inputs = tuple(_edge(w) for w in words if not w.startswith("^"))
    control = tuple(w[1:] for w in words if w.startswith("^"))
    attrs: dict[str, Any] = _attrs(match["attrs"])
    shapes: tuple[TensorShape, ...] | None = None
    if op in counts:
        attrs["index"] = counts[op]
        counts[op] += 1
    if op == "_Arg":
        dtype, _, dims = literal.partition("[")
        attrs["T"] = dtypes.as_dtype(dtype)
        shapes = (_shape(dims.rstrip("]")),)
    elif op == "Const":
        attrs["value"] = _value(literal)
        is_text = attrs["value"].dtype == object
        attrs["dtype"] = dtypes.as_dtype("string" if is_text else attrs["value"].dtype)
    elif literal:
        attrs["dtype"] = dtypes.as_dtype(literal)
    op_def = op_registry.find(op)
    assert op_def is not None, op
    given = [nodes[name].output_types[index].base_dtype for name, index in inputs]
    _infer(op_def, given, attrs)
    attrs = op_def.fill_defaults(attrs)
    return Node(
        match["name"],
        op,
        inputs,
        control,
        match["device"] or "",
        attrs,
        tuple(op_def.output_types(attrs)),
        shapes,
    )


def _edge(word: str) -> tuple[str, int]:
    name, _, index = word.partition(":")
    return name, int(index or 0)


def _attrs(text: str | None) -> dict[str, Any]:
    attrs = {}
    for item in (text or "").split(";"):
        if item.strip():
            name, _, value = item.partition("=")
            decoded = ast.literal_eval(value.strip())
            if isinstance(decoded, str):
                decoded = dtypes.as_dtype(decoded)
            attrs[name.strip()] = decoded
    return attrs


def _shape(dims: str) -> TensorShape:
    sizes = [None if d.strip() == "?" else int(d) for d in dims.split(",") if d.strip()]
    return TensorShape.of(tuple(sizes))


def _value(literal: str) -> np.ndarray[Any, Any]:
    value = np.array(ast.literal_eval(literal))
    if value.dtype.kind == "S":
        return value.astype(object)
    if value.dtype == np.float64:
        return value.astype(np.float32)
    return value.astype(np.int32) if value.dtype == np.int64 else value


def _infer(op_def: Any, given: list[Any], attrs: dict[str, Any]) -> None:
    """Fills the attrs that follow from the inputs' dtypes."""
    position = 0
    for arg in op_def.inputs:
        count = 1
        if arg.number_attr:
            others = sum(1 for a in op_def.inputs if not a.number_attr)
            lists = len(op_def.inputs) - others
            count = attrs.setdefault(arg.number_attr, (len(given) - others) // lists)
        if arg.type_attr and position < len(given):
            attrs.setdefault(arg.type_attr, given[position])
        position += count


def render(graph: GraphIR) -> str:
    """The text of a graph: names, ops, constants, inputs and devices."""
    return "\n".join(_render_node(node) for node in graph.nodes.values())


def _render_node(node: Node) -> str:
    text = f"{node.name} = {node.op}"
    if node.op == "Const":
        text += f"<{node.attrs['value'].tolist()}>"
    if node.op == "_Arg":
        dims = node.output_shapes[0].dims_tuple if node.output_shapes else ()
        sizes = ",".join("?" if d is None else str(d) for d in dims or ())
        text += f"<{node.output_types[0].name}[{sizes}]>"
    words = [name if index == 0 else f"{name}:{index}" for name, index in node.inputs]
    words += [f"^{name}" for name in node.control_inputs]
    if words:
        text += f"({', '.join(words)})"
    if node.device:
        text += f" @{node.device}"
    return text


def evaluate(graph: GraphIR, arguments: list[Any]) -> list[Any]:
    """The results of a graph of pure nodes, node by node in host memory."""
    values: dict[tuple[str, int], Any] = {}
    results: dict[int, Any] = {}
    for node in graph.nodes.values():
        inputs = [values[edge] for edge in node.inputs]
        if node.op == "_Arg":
            outputs = [arguments[node.attrs["index"]]]
        elif node.op == "_Retval":
            results[node.attrs["index"]] = inputs[0]
            outputs = []
        elif node.op == "Const":
            outputs = [node.attrs["value"]]
        elif node.op == "NoOp":
            outputs = []
        else:
            computed = local.evaluate(node, inputs)
            assert computed is not None, node
            outputs = list(computed)
        for index, value in enumerate(outputs):
            values[node.name, index] = value
    return [results[i] for i in sorted(results)]


def check(graph: GraphIR) -> None:
    """Asserts what every pass must leave true: known inputs, in topological order."""
    seen: dict[str, Node] = {}
    for name, node in graph.nodes.items():
        assert name == node.name
        for producer, index in node.inputs:
            assert producer in seen, f"{name} takes {producer}"
            assert index < len(seen[producer].output_types)
        for producer in node.control_inputs:
            assert producer in seen, f"{name} waits for {producer}"
        seen[name] = node
