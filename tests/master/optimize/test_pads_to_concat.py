"""Sums of padded pieces that cover the whole once become a concatenation."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.master.optimize import OptimizeTarget
from tensorloom.master.optimize.simplify.pads_to_concat import concatenate_pads
from tests.master.graph_text import check, evaluate, parse

_ = tf
GRAPH = """
a = _Arg<float32[2,3]>
b = _Arg<float32[1,3]>
c = _Arg<float32[2,3]>
first = Const<{first}>
second = Const<{second}>
third = Const<[[3, 0], [0, 0]]>
pa = Pad(a, first)
pb = Pad(b, second)
pc = Pad(c, third)
sum = AddN(pc, pa, pb)
r = _Retval(sum)
"""


def passed(first: str, second: str) -> tuple[str, list[np.ndarray]]:
    before = parse(GRAPH.format(first=first, second=second))
    after = concatenate_pads(before, OptimizeTarget())
    check(after)
    random = np.random.RandomState(0)
    feeds = [random.randn(n, 3).astype(np.float32) for n in (2, 1, 2)]
    values = [evaluate(graph, feeds)[0] for graph in (before, after)]
    return after.nodes["sum"].op, values


@pytest.mark.parametrize(
    ("first", "second", "op"),
    [
        ("[[0, 3], [0, 0]]", "[[2, 2], [0, 0]]", "ConcatV2"),
        ("[[2, 1], [0, 0]]", "[[0, 4], [0, 0]]", "AddN"),
        ("[[0, 3], [0, 0]]", "[[4, 0], [0, 0]]", "AddN"),
    ],
    ids=["cover", "an overlap", "a gap"],
)
def test_sum(first: str, second: str, op: str) -> None:
    made, (before, after) = passed(first, second)
    assert made == op
    np.testing.assert_array_equal(before, after)


def test_gradient_of_slices() -> None:
    x = tf.placeholder(tf.float32, [6, 4])
    parts = tf.slice(x, [0, 0], [2, 4]), tf.slice(x, [2, 0], [4, 4])
    (grad,) = tf.gradients(tf.reduce_sum(parts[0] * 2) + tf.reduce_sum(parts[1]), x)
    with tf.Session() as session:
        value = session.run(grad, {x: np.ones([6, 4])})
    np.testing.assert_array_equal(value, [[2.0] * 4] * 2 + [[1.0] * 4] * 4)
