"""On random graphs each pass, and all of them, leave the fetched values as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf  # registers the ops
from tensorloom.cluster import local
from tensorloom.master.optimize import PIPELINE, OptimizeTarget, optimize
from tests.master.graph_text import check, evaluate, parse

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR

_ = tf

# Ops over values of shape [2,3]; `{0}` and `{1}` are earlier values.
_OPS = (
    *("Add({0}, {1})", "AddV2({0}, {1})", "Mul({0}, {1})", "Sub({0}, {1})"),
    *("Neg({0})", "Identity({0})", "StopGradient({0})", "Square({0})"),
    *("Mul({0}, one)", "Mul(ones, {0})", "AddV2({0}, zero)", "Sub({0}, zeros)"),
    *("RealDiv({0}, one)", "Maximum({0}, {1})", "AddN({0})", "AddN({0}, {1})"),
    *("Reshape({0}, same)", "Sum({0}, none)", "Tile({0}, once)"),
    "Slice({0}, start, same)",
)
# Ops that go through another shape, one after the other; `{1}` is the one before.
_CHAINS = (
    ("Transpose({0}, swap)", "Transpose({1}, swap)"),
    ("Reshape({0}, flat)", "Reshape({1}, same)"),
    ("Shape({0})", "Reshape({0}, {1})"),
    ("Shape(y)", "Reshape({0}, {1})"),
    ("MatMul({0}, square)", "BiasAdd({1}, bias)"),
    ("MatMul({0}, square)", "AddV2({1}, bias)"),
    ("Cast({0}) {{DstT='float64'}}", "Cast({1}) {{DstT='float32'}}"),
    ("NoOp(^{0})", "Exp({0}, ^{1})"),
    ("Exp({0})", "Identity({0}, ^{1})"),
    ("Reshape({0}, deep)", "Mul({1}, wide)", "Reshape({1}, same)"),
    ("ExpandDims({0}, axis)", "Sub(wide, {1})", "Reshape({1}, same)"),
    ("MatMul({0}, column)", "MatMul({1}, row)", "Mul({0}, {1})"),
)
_CONSTANTS = """
one = Const<1.0>
ones = Const<[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]>
zero = Const<0.0>
zeros = Const<[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]>
same = Const<[2, 3]>
flat = Const<[6]>
swap = Const<[1, 0]>
once = Const<[1, 1]>
start = Const<[0, 0]>
square = Const<[[1.0, 2.0, 0.5], [0.0, 1.0, -1.0], [2.0, 1.0, 1.0]]>
bias = Const<[0.5, -1.0, 2.0]>
empty = Const<[]>
none = Cast(empty) {DstT='int32'}
k = Const<[[2.0, 0.5, -1.0], [3.0, 0.0, 1.5]]>
deep = Const<[2, 1, 3]>
axis = Const<1>
wide = ExpandDims(x, axis)
column = Const<[[1.0], [1.0], [1.0]]>
row = Const<[[1.0, 1.0, 1.0]]>
"""


@st.composite
def graphs(draw: st.DrawFn) -> str:
    """The text of a graph over two arguments, one of unknown batch size."""
    lines = ["x = _Arg<float32[2,3]>", "y = _Arg<float32[?,3]>"]
    lines += _CONSTANTS.strip().splitlines()
    values = ["x", "y", "k", "ones"]
    for number in range(draw(st.integers(1, 12))):
        first, second = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        name = f"n{number}"
        if draw(st.booleans()):
            op = draw(st.sampled_from(_OPS))
            lines.append(f"{name} = {op.format(first, second)}")
        else:
            *inside, last = draw(st.sampled_from(_CHAINS))
            before = first
            for part, op in zip("ab", inside, strict=False):
                lines.append(f"{name}{part} = {op.format(first, before)}")
                before = f"{name}{part}"
            lines.append(f"{name} = {last.format(first, before)}")
        values.append(name)
    fetches = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))
    lines += [f"r{i} = _Retval({name})" for i, name in enumerate(fetches)]
    return "\n".join(lines)


ARGUMENTS = [
    np.array([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]], np.float32),
    np.array([[1.5, 2.0, -2.0], [0.5, 0.0, 1.0]], np.float32),
]


def assert_same_values(before: GraphIR, after: GraphIR) -> None:
    check(after)
    expected, results = evaluate(before, ARGUMENTS), evaluate(after, ARGUMENTS)
    for value, result in zip(expected, results, strict=True):
        assert value.dtype == result.dtype
        np.testing.assert_allclose(result, value, rtol=1e-5, atol=1e-6)


def preserved(text: str) -> frozenset[str]:
    return frozenset(
        line.partition("_Retval(")[2].rstrip(")")
        for line in text.splitlines()
        if "_Retval" in line
    )


@pytest.mark.parametrize("name", [name for name, _ in PIPELINE])
@given(text=graphs(), keeps_names=st.booleans())
@settings(max_examples=60, deadline=None)
def test_one_pass(name: str, text: str, keeps_names: bool) -> None:
    target = OptimizeTarget(
        preserved(text) if keeps_names else frozenset(),
        evaluate=local.evaluate,
    )
    before = parse(text)
    after = dict(PIPELINE)[name](before, target)
    assert_same_values(before, after)
    if keeps_names:
        assert target.preserve <= after.nodes.keys()


@given(text=graphs())
@settings(max_examples=150, deadline=None)
def test_all_passes(text: str) -> None:
    target = OptimizeTarget(preserved(text), evaluate=local.evaluate)
    before = parse(text)
    after = optimize(before, target)
    assert_same_values(before, after)
    assert target.preserve <= after.nodes.keys()
    assert_same_values(before, optimize(after, target))
