"""Which functions go with a graph."""

from __future__ import annotations

from typing import Any

import pytest

from tensorloom.framework.attr_value import NameAttrList
from tensorloom.framework.called_functions import called_functions
from tensorloom.framework.graph_ir import FunctionIR, GraphIR, Node


def node(name: str, op: str, **attrs: Any) -> Node:
    return Node(name, op, (), (), "", attrs, ())


def _function(name: str, *nodes: Any, gradient: str = "") -> FunctionIR:
    body = {n.name: n for n in nodes}
    return FunctionIR(name, (), (), (), (), body, (), gradient=gradient)


LIBRARY = [
    _function("body", node("n", "PartitionedCall", f=NameAttrList("helper"))),
    _function("unused", node("n", "body")),
    _function("helper", node("n", "helper")),
    _function("f", gradient="f_grad"),
    _function("f_grad"),
    _function("nested"),
]


@pytest.mark.parametrize(
    ("caller", "expected"),
    [
        (node("n", "NoOp"), []),
        (node("n", "helper"), ["helper"]),
        (node("n", "While", body=NameAttrList("body")), ["body", "helper"]),
        (node("n", "SymbolicGradient", f=NameAttrList("f")), ["f", "f_grad"]),
        (
            node(
                "n", "Case", branches=[NameAttrList("nested"), NameAttrList("f_grad")]
            ),
            ["f_grad", "nested"],
        ),
        (
            node("n", "Map", f=NameAttrList("x", {"g": NameAttrList("nested")})),
            ["nested"],
        ),
        (node("n", "Unknown", f=NameAttrList("absent")), []),
    ],
)
def test_called_functions(caller: Any, expected: list[str]) -> None:
    graph = GraphIR({"n": caller}, {f.name: f for f in LIBRARY})
    assert list(called_functions(graph)) == expected
    assert len(graph.functions) == len(LIBRARY)
