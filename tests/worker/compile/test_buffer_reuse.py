"""Results in the memory of inputs that end: where it is done, and that nobody sees it.

A node is a line `name = Op(inputs)`; the table says which call gets an `out`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.attr_value import NameAttrList
from tests.worker.small_graphs import (
    arg,
    const,
    function,
    graph,
    node,
    register,
    retval,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node

SHAPE = (3, 4)
F = np.float32
X = np.linspace(0.1, 1.2, 12, dtype=F).reshape(SHAPE)


def nodes_of(text: str, shape: tuple[int | None, ...] = SHAPE) -> list[Node]:
    made = []
    for line in text.split(";"):
        name, _, call = line.strip().partition(" = ")
        op, _, inputs = call.rstrip(")").partition("(")
        attrs: dict[str, Any] = {"squeeze_dims": []} if op == "Squeeze" else {}
        made.append(node(name, op, inputs.split(", "), shape=shape, **attrs))
    return made


def fetches(*names: str) -> list[Node]:
    return [retval(name, index) for index, name in enumerate(names)]


def outs(source: str) -> int:
    """How many kernel calls write into an input."""
    count = 0
    for line in source.splitlines():
        _, _, call = line.strip().partition(" = k")
        arguments = call.partition("(")[2].rstrip(")").split(", ")
        count += len(arguments) > len(set(arguments))
    return count


CASES: dict[str, tuple[str, list[str], int]] = {
    "a chain": ("a = Exp(x); b = Tanh(a); c = Mul(b, x)", ["c"], 2),
    "the second operand": ("a = Exp(x); b = Sub(x, a)", ["b"], 1),
    "read twice before": ("a = Exp(x); b = Mul(a, x); c = AddV2(a, b)", ["c"], 1),
    "after a kernel without ufunc": ("a = Sigmoid(x); b = Neg(a)", ["b"], 1),
    "a feed stays": ("a = Exp(x)", ["a"], 0),
    "a fetched value stays": ("a = Exp(x); b = Tanh(a)", ["a", "b"], 0),
    "read again later": (
        "a = Exp(x); b = Tanh(a); c = Sin(a); d = Sub(b, c)",
        ["d"],
        2,
    ),
    "under a view": (
        "a = Exp(x); v = Squeeze(a); b = Tanh(a); c = Sub(b, v)",
        ["c"],
        1,
    ),
    "a view": ("a = Exp(x); v = Squeeze(a); c = Tanh(v)", ["c"], 0),
}
NUMPY: dict[str, Any] = {
    "Exp": np.exp,
    "Tanh": np.tanh,
    "Sin": np.sin,
    "Neg": np.negative,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Squeeze": lambda x: x,
    "Mul": np.multiply,
    "Sub": np.subtract,
    "AddV2": np.add,
}


def expected(text: str, x: Any) -> dict[str, Any]:
    values = {"x": x}
    for line in text.split(";"):
        name, _, call = line.strip().partition(" = ")
        op, _, inputs = call.rstrip(")").partition("(")
        values[name] = NUMPY[op](*(values[i] for i in inputs.split(", ")))
    return values


@pytest.mark.parametrize("name", CASES)
def test_what_is_overwritten(name: str) -> None:
    text, fetched, count = CASES[name]
    step = register(graph(arg("x", 0, SHAPE), *nodes_of(text), *fetches(*fetched)))
    assert outs(step.source) == count, step.source
    fed, wanted = X.copy(), expected(text, X)
    for _ in range(2):  # a second step finds constants and feeds as they were
        for result, of in zip(step.run([fed]), fetched, strict=True):
            np.testing.assert_allclose(result, wanted[of], rtol=2e-6, err_msg=of)
    np.testing.assert_array_equal(fed, X)


def test_other_shapes_and_dtypes_have_arrays_of_their_own() -> None:
    wide = node("c", "AddV2", ["b", "x"], shape=SHAPE)
    step = register(
        graph(
            arg("x", 0, SHAPE),
            arg("row", 1, (4,)),
            node("b", "Exp", ["row"], shape=(4,)),
            wide,
            node("d", "Less", ["c", "x"], shape=SHAPE, dtype=dtypes.bool),
            retval("c", 0),
            retval("d", 1, dtypes.bool),
        )
    )
    assert outs(step.source) == 0, step.source
    c, d = step.run([X, X[0]])
    np.testing.assert_allclose(c, X + np.exp(X[0]), rtol=1e-6)
    assert not d.any()


def test_constants_stay() -> None:
    nodes = nodes_of("a = AddV2(one, x); b = Mul(one, a)")
    step = register(
        graph(
            const("one", np.ones(SHAPE, F)), arg("x", 0, SHAPE), *nodes, *fetches("b")
        )
    )
    first, second = step.run([X])[0], step.run([X])[0]
    np.testing.assert_array_equal(first, second)


def test_unknown_shapes_are_left_alone() -> None:
    nodes = nodes_of("a = Exp(x); b = Tanh(a)", shape=(None, 4))
    step = register(graph(arg("x", 0, (None, 4)), *nodes, *fetches("b")))
    assert outs(step.source) == 0


def test_what_a_function_returns_twice_is_not_overwritten() -> None:
    body = function("twin", ["x"], nodes_of("a = Exp(x)"), ["a", "a"])
    call = node("f", "StatefulPartitionedCall", ["x"], shape=SHAPE, outputs=2)
    call = call.replace(attrs={"f": NameAttrList("twin"), "config_proto": b""})
    nodes = [
        node("b", "Neg", ["f"], shape=SHAPE),
        node("c", "Sub", ["f:1", "b"], shape=SHAPE),
    ]
    step = register(
        graph(arg("x", 0, SHAPE), call, *nodes, *fetches("c"), functions={"twin": body})
    )
    np.testing.assert_allclose(step.run([X])[0], 2 * np.exp(X), rtol=1e-6)


# Ops that round alike in every loop of NumPy, and one that makes views.
EXACT = ("AddV2", "Mul", "Neg", "Squeeze", "Sub")


@st.composite
def programs(draw: Any) -> tuple[str, list[str]]:
    """Elementwise lines over what came before, and what of it is fetched."""
    names, lines = ["x"], []
    for index in range(draw(st.integers(1, 12))):
        op = draw(st.sampled_from(EXACT))
        count = 1 if op in ("Neg", "Squeeze") else 2
        inputs = [draw(st.sampled_from(names[-4:])) for _ in range(count)]
        lines.append(f"v{index} = {op}({', '.join(inputs)})")
        names.append(f"v{index}")
    fetched = draw(st.lists(st.sampled_from(names[1:]), min_size=1, unique=True))
    return "; ".join(lines), fetched


@hypothesis.settings(deadline=None, max_examples=25)
@hypothesis.given(programs())
def test_programs_give_the_values_of_their_lines(
    program: tuple[str, list[str]],
) -> None:
    text, fetched = program
    step = register(graph(arg("x", 0, SHAPE), *nodes_of(text), *fetches(*fetched)))
    fed = X.copy()
    with np.errstate(all="ignore"):
        wanted = expected(text, X)
    for result, of in zip(step.run([fed]), fetched, strict=True):
        np.testing.assert_array_equal(result, wanted[of], err_msg=of)
    np.testing.assert_array_equal(fed, X)
