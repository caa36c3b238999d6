"""Which functions go with a graph."""

from __future__ import annotations

from typing import Any

import pytest

from tensorloom.framework.errors import NotFoundError
from tensorloom.framework.functions.called_functions import (
    broken_functions,
    called_functions,
)
from tensorloom.framework.functions.function_problem import FunctionProblem
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.types.attr_value import NameAttrList


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


def _broken(name: str, *ops: str) -> FunctionIR:
    from tensorloom.protos.function_pb2 import FunctionDef

    definition = FunctionDef()
    definition.signature.name = name
    for op in ops:
        definition.node_def.add(name=op, op=op).attr["f"].list.func.add(name=f"{op}_f")
    function = _function(name)
    function.problem = FunctionProblem(NotFoundError, "no such op", definition)
    return function


def test_a_function_that_cannot_be_called_takes_along_what_it_names() -> None:
    functions = [_broken("f", "g"), _function("g"), _function("g_f"), _function("h")]
    graph = GraphIR({"n": node("n", "f")}, {f.name: f for f in functions})
    assert list(called_functions(graph)) == ["f", "g", "g_f"]


def test_broken_functions() -> None:
    library = {f.name: f for f in LIBRARY}
    assert broken_functions(library) == set()
    assert broken_functions(library, ["elsewhere"]) == set()
    library["helper"] = _broken("helper")
    assert broken_functions(library) == {"helper", "body", "unused"}
    del library["helper"]
    assert broken_functions(library, {"helper"}) == {"body", "unused"}
