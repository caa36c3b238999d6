"""The sigmoid cross entropy and its gradient become one op each, with equal values."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.master.optimize import OptimizeTarget
from tensorloom.master.optimize.fusion.sigmoid_cross_entropy import (
    fuse_sigmoid_cross_entropy,
)
from tensorloom.protos.rewriter_config_pb2 import RewriterConfig
from tests.master.graph_text import check, evaluate, parse

_ = tf
LOSS = """
x = _Arg<float32[2,2]>
z = _Arg<float32[2,2]>
zeros = Const<[[0.0, 0.0], [0.0, {zero}]]>
p = GreaterEqual(x, zeros)
r = Select(p, x, zeros)
minus = Neg({negated})
n = Select(p, minus, x)
e = Exp(n)
l = Log1p(e)
xz = Mul({factors})
d = Sub(r, xz)
loss = Add(d, l)
"""
GRADIENT = """\
g = _Arg<float32[2,2]>
one = Const<{one}>
total = AddV2(one, e)
part = Reciprocal(total)
gp = Mul(g, part)
h = Mul(gp, e)
ng = Neg(g)
y = Mul(ng, z)
a = Select(p, g, zeros)
b = Select(p, h, zeros)
c = Select(p, zeros, h)
nb = Neg(b)
sum = AddN(a, y, c, {last})
s = _Retval(sum)
"""
USUAL = {
    "zero": "0.0",
    "negated": "x",
    "factors": "x, z",
    "one": "1.0",
    "last": "nb",
}


def op_of(name: str, text: str, **changes: str) -> str:
    before = parse(text.format(**{**USUAL, **changes}))
    target = OptimizeTarget(preserve=frozenset(["loss"]))
    after = fuse_sigmoid_cross_entropy(before, target)
    check(after)
    return after.nodes[name].op


@pytest.mark.parametrize("factors", ["x, z", "z, x"])
def test_loss(factors: str) -> None:
    assert op_of("loss", LOSS, factors=factors) == "_SigmoidCrossEntropy"


@pytest.mark.parametrize(
    "change", [{"zero": "1.0"}, {"negated": "z"}, {"factors": "z, z"}]
)
def test_other_losses_stay(change: dict[str, str]) -> None:
    assert op_of("loss", LOSS, **change) == "Add"


def test_gradient() -> None:
    assert op_of("sum", LOSS + GRADIENT) == "_SigmoidCrossEntropyGrad"


@pytest.mark.parametrize("change", [{"one": "2.0"}, {"last": "b"}, {"zero": "0.5"}])
def test_other_sums_stay(change: dict[str, str]) -> None:
    assert op_of("sum", LOSS + GRADIENT, **change) == "AddN"


def test_values_of_a_pass_alone() -> None:
    before = parse((LOSS + GRADIENT).format(**USUAL))
    after = fuse_sigmoid_cross_entropy(before, OptimizeTarget())
    random = np.random.RandomState(0)
    feeds = [random.randn(2, 2).astype(np.float32) for _ in range(3)]
    np.testing.assert_allclose(
        evaluate(after, feeds)[0], evaluate(before, feeds)[0], rtol=1e-6, atol=1e-7
    )


def results(optimized: bool, shape: list[int | None]) -> list[np.ndarray]:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, shape)
        z = tf.placeholder(tf.float32, shape)
        loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x)
        (grad,) = tf.gradients(loss * loss, x)
        config = tf.ConfigProto()
        if not optimized:
            rewrites = config.graph_options.rewrite_options
            rewrites.remapping = RewriterConfig.OFF
        logits = [[0.0, -1.5, 90.0], [-90.0, 3.0, np.inf], [np.nan, -0.5, 1e-6]]
        labels = [[0.0, 1.0, 0.25], [1.0, 0.0, 1.0], [0.5, 0.5, 0.0]]
        with tf.Session(config=config) as session:
            values: list[np.ndarray] = session.run([loss, grad], {x: logits, z: labels})
        return values


@pytest.mark.parametrize("shape", [[3, 3], [None, 3]], ids=["known", "unknown"])
def test_values_in_a_session(shape: list[int | None]) -> None:
    for ours, plain in zip(results(True, shape), results(False, shape), strict=True):
        np.testing.assert_allclose(ours, plain, rtol=2e-6, atol=1e-7)
