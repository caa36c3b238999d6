"""Sums of two conditions together are counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.master.optimize import OptimizeTarget
from tensorloom.master.optimize.fusion.count_both import fuse_count_both
from tests.master.graph_text import check, evaluate, parse

_ = tf
GRAPH = """
a = _Arg<bool[{a}]>
b = _Arg<bool[{b}]>
c = LogicalAnd(a, b)
d = Cast(c) {{DstT='{dtype}'}}
x = Const<{axis}>
s = Sum(d, x)
r = _Retval(s)
"""


@pytest.mark.parametrize(
    ("a", "b", "dtype", "axis", "op"),
    [
        ("3,16", "3,16", "float32", "[1]", "_CountBoth"),
        ("3,16", "3,16", "float64", "[-1]", "_CountBoth"),
        ("3,16", "3,16", "int32", "[1]", "Sum"),
        ("3,16", "3,16", "float32", "[0]", "Sum"),
        ("3,16", "1,16", "float32", "[1]", "Sum"),
        ("3,?", "3,?", "float32", "[1]", "Sum"),
    ],
)
def test_which_sums(a: str, b: str, dtype: str, axis: str, op: str) -> None:
    before = parse(GRAPH.format(a=a, b=b, dtype=dtype, axis=axis))
    after = fuse_count_both(before, OptimizeTarget())
    check(after)
    assert after.nodes["s"].op == op


@pytest.mark.parametrize("columns", [1, 7, 8, 512])
def test_values_of_the_pass_alone(columns: int) -> None:
    shape = f"5,{columns}"
    text = GRAPH.format(a=shape, b=shape, dtype="float32", axis="[1]")
    before = parse(text)
    after = fuse_count_both(before, OptimizeTarget())
    random = np.random.RandomState(0)
    feeds = [random.rand(5, columns) > 0.4 for _ in range(2)]
    found, expected = evaluate(after, feeds)[0], evaluate(before, feeds)[0]
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rows", [3, 200])
def test_values_in_a_session(rows: int) -> None:
    random = np.random.RandomState(1)
    fed = [random.rand(rows, 512) > 0.5 for _ in range(2)]
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = (tf.placeholder(tf.bool, [rows, 512]) for _ in range(2))
        count = tf.reduce_sum(tf.cast(tf.logical_and(a, b), tf.float32), 1)
        turned: Any = tf.transpose(tf.transpose(a))
        again = tf.reduce_sum(tf.cast(tf.logical_and(turned, b), tf.float32), 1)
        found = session.run([count, again], {a: fed[0], b: fed[1]})
    for one in found:
        np.testing.assert_array_equal(one, np.sum(fed[0] & fed[1], 1))
