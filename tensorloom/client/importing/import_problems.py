"""Finds everything in a GraphDef that is unknown here, to report it in one error."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.functions.function_problem import names_in
from tensorloom.framework.graph.node_def import parse_input
from tensorloom.framework.registry import newer_attrs, op_registry
from tensorloom.framework.types import attr_value

_MISMATCH: Final = re.compile(
    r"Input (\d+) of node (\S+) was passed (\S+) from (.*?)(:.*)"
)
_SHOWN: Final = 20
_SHOWN_VALUE: Final = 60


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """One thing that keeps a graph from being imported."""

    kind: str  # "op", "attr" or "missing attr"
    node: str
    op: str
    attr: str  # "" for an op
    value: str  # the attr's, shortened
    function: str  # the function that has the node; "" for the graph
    remedy: str

    def __str__(self) -> str:
        where = f"node '{self.node}'"
        if self.function:
            where += f" of function '{self.function}'"
        if self.kind == "op":
            what = f"op {self.op} is not known"
        elif self.kind == "attr":
            what = f"op {self.op} has no attr '{self.attr}' (it is {self.value})"
        else:
            what = f"op {self.op} lacks its attr '{self.attr}'"
        return f"{where}: {what}; {self.remedy}"


def _nodes(graph_def: Any) -> Iterator[tuple[str, Any]]:
    for node in graph_def.node:
        yield "", node
    used = used_functions(graph_def)
    for function in graph_def.library.function:
        if function.signature.name in used:
            for node in function.node_def:
                yield function.signature.name, node


def used_functions(graph_def: Any) -> set[str]:
    """The functions that a node of the graph can come to call."""
    bodies = {f.signature.name: f.node_def for f in graph_def.library.function}
    gradients = {g.function_name: g.gradient_func for g in graph_def.library.gradient}
    used: set[str] = set()
    queue = [graph_def.node]
    while queue:
        for node in queue.pop():
            names = {gradients.get(node.op, ""), *names_in([node])}
            for name in (names & bodies.keys()) - used:
                used.add(name)
                names_of_gradient = {gradients.get(name, "")} & bodies.keys()
                queue.append(bodies[name])
                queue += [bodies[g] for g in names_of_gradient - used]
                used |= names_of_gradient
    return used


def find_problems(graph_def: Any, producer_ops: Any = None) -> list[ImportProblem]:
    """The ops and attrs that are not known here and cannot be dropped.

    Args:
      producer_ops: the `OpList` of who wrote the graph; an attr with the default value
        of that list may be dropped.
    """
    functions = {f.signature.name for f in graph_def.library.function}
    defaults = {
        (op.name, attr.name): attr.default_value
        for op in (producer_ops.op if producer_ops is not None else ())
        for attr in op.attr
        if attr.HasField("default_value")
    }
    found = []
    for function, node in _nodes(graph_def):
        if node.op in functions or node.op == "SymbolicGradient":
            continue
        op_def = op_registry.find(node.op)
        if op_def is None:
            found.append(
                ImportProblem(
                    "op", node.name, node.op, "", "", function, nearest_op(node.op)
                )
            )
            continue
        for name in node.attr:
            if name in op_def.attrs or name.startswith("_"):
                continue
            value = node.attr[name]
            if not _may_drop(node.op, name, value, defaults):
                found.append(_unknown_attr(node, name, value, function))
        found += [
            ImportProblem(
                "missing attr",
                node.name,
                node.op,
                name,
                "",
                function,
                "the graph is damaged, or was made by an older version",
            )
            for name, attr in op_def.attrs.items()
            if not attr.has_default and name not in node.attr
        ]
    return found


def _may_drop(op: str, name: str, value: Any, defaults: dict[Any, Any]) -> bool:
    if defaults.get((op, name)) == value or name in newer_attrs.KEPT:
        return True
    try:
        return newer_attrs.is_default(op, name, attr_value.from_proto(value))
    except InvalidArgumentError:
        return False


def _unknown_attr(node: Any, name: str, value: Any, function: str) -> ImportProblem:
    text = " ".join(str(value).split())
    if len(text) > _SHOWN_VALUE:
        text = text[: _SHOWN_VALUE - 3] + "..."
    remedy = (
        "export the graph with an older version, or without what sets it "
        "(strip_default_attrs=True leaves defaults out)"
    )
    return ImportProblem("attr", node.name, node.op, name, text, function, remedy)


def nearest_op(op: str) -> str:
    """What to use in place of an op that is not known, as a phrase."""
    known = op_registry.registered_ops()
    stem = op.rstrip("0123456789")
    if stem.endswith("V"):
        stem = stem[:-1]
        versions = [stem, *(f"{stem}V{i}" for i in range(9, 1, -1))]
        near = [name for name in versions if name in known]
    else:
        near = []
    near += [
        name
        for name in difflib.get_close_matches(op, known, n=3, cutoff=0.75)
        if name not in near
    ]
    if near:
        return f"nearest: {', '.join(near[:3])}"
    return "register it (tensorloom.extend), or export the graph without it"


def edge_message(message: str, graph_def: Any, prefix: str) -> str:
    """An error of an edge as TensorFlow tells it: by the names in the new graph.

    A missing input is reported before a wrong number of inputs.
    """
    if "do not match" in message or "Unknown input node" in message:
        return _unknown_input(graph_def) or message
    if prefix and (found := _MISMATCH.fullmatch(message)):
        number, node, dtype, producer, rest = found.groups()
        return (
            f"Input {number} of node {prefix}/{node} was passed {dtype} from "
            f"{prefix}/{producer}{rest}"
        )
    return message


def _unknown_input(graph_def: Any) -> str:
    names = {node.name for node in graph_def.node}
    for node in graph_def.node:
        for text in node.input:
            if parse_input(text)[0] not in names:
                return f"Node '{node.name}': Unknown input node '{text}'"
    return ""


def explain(graph_def: Any, producer_ops: Any = None) -> str:
    """All problems as lines for an error's message; "" when there is none."""
    problems = find_problems(graph_def, producer_ops)
    if not problems:
        return ""
    lines = [f"  {problem}" for problem in problems[:_SHOWN]]
    if len(problems) > _SHOWN:
        lines.append(f"  ... and {len(problems) - _SHOWN} more")
    producer = graph_def.versions.producer
    head = f"The graph's producer has version {producer}. Not known here:"
    return "\n".join([head, *lines])
