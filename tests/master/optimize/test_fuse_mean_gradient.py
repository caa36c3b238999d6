"""The gradient of a mean over an unknown number of elements is one op."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.master.optimize import OptimizeTarget
from tensorloom.master.optimize.fusion.mean_gradient import fuse_mean_gradient
from tests.master.graph_text import check, evaluate, parse

_ = tf
GRAPH = """
x = _Arg<float32[?]>
g = Const<{grad}>
s = Shape(x)
t = Tile(g, s)
zero = Const<[0]>
n = Prod({sizes}, zero)
one = Const<1>
q = FloorDiv(n, one)
c = Cast(q) {{DstT='float32'}}
d = RealDiv(t, c)
r = _Retval(d)
"""


@pytest.mark.parametrize(
    ("grad", "sizes", "op"),
    [
        ("[1.0]", "s", "_MeanGrad"),
        ("[1.0, 2.0]", "s", "RealDiv"),
        ("[1.0]", "zero", "RealDiv"),
    ],
    ids=["mean", "two elements", "another product"],
)
def test_division(grad: str, sizes: str, op: str) -> None:
    before = parse(GRAPH.format(grad=grad, sizes=sizes))
    after = fuse_mean_gradient(before, OptimizeTarget())
    check(after)
    assert after.nodes["d"].op == op


@pytest.mark.parametrize("size", [1, 3, 7])
def test_values_of_the_pass_alone(size: int) -> None:
    before = parse(GRAPH.format(grad="[0.7]", sizes="s"))
    after = fuse_mean_gradient(before, OptimizeTarget())
    feeds = [np.ones(size, np.float32)]
    np.testing.assert_array_equal(evaluate(after, feeds)[0], evaluate(before, feeds)[0])


@pytest.mark.parametrize("shape", [(5,), (3, 4), (0, 4)])
@pytest.mark.parametrize("scaled", [False, True])
def test_values_in_a_session(shape: tuple[int, ...], scaled: bool) -> None:
    results = []
    for optimized in (True, False):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None, *shape[1:]])
            scale = tf.placeholder(tf.float32, [])
            loss = tf.reduce_mean(x * x)
            (grad,) = tf.gradients(loss * scale if scaled else loss, x)
            config = tf.ConfigProto()
            if not optimized:
                rewrites = config.graph_options.rewrite_options
                rewrites.disable_meta_optimizer = True
            value = np.random.RandomState(0).randn(*shape)
            with tf.Session(config=config) as session:
                results.append(session.run(grad, {x: value, scale: 3.0}))
    np.testing.assert_array_equal(*results)
