"""Max pools are marked where no gradient needs to know where the maxima are."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.master.optimize import OptimizeTarget
from tensorloom.master.optimize.fusion.pool_without_indices import pool_without_indices
from tensorloom.protos.rewriter_config_pb2 import RewriterConfig
from tests.master.graph_text import parse

_ = tf
POOL = """
x = _Arg<float32[1,4,4,1]>
y = MaxPool(x) {ksize=[1, 2, 2, 1]; strides=[1, 2, 2, 1]; padding=b'VALID'}
"""
GRADIENT = """\
g = _Arg<float32[1,2,2,1]>
d = MaxPoolGrad(x, y, g) {ksize=[1, 2, 2, 1]; strides=[1, 2, 2, 1]; padding=b'VALID'}
"""


@pytest.mark.parametrize(("text", "marked"), [(POOL, True), (POOL + GRADIENT, False)])
def test_mark(text: str, marked: bool) -> None:
    after = pool_without_indices(parse(text), OptimizeTarget())
    assert ("_values_only" in after.nodes["y"].attrs) is marked


def pooled(value: np.ndarray, window: int, padding: str, optimized: bool) -> np.ndarray:
    with tf.Graph().as_default():
        x = tf.placeholder(value.dtype, value.shape)
        size = [1, window, window, 1]
        y = tf.nn.max_pool(x, size, size, padding)
        config = tf.ConfigProto()
        if not optimized:
            rewrites = config.graph_options.rewrite_options
            rewrites.remapping = RewriterConfig.OFF
        with tf.Session(config=config) as session:
            result: np.ndarray = session.run(y, {x: value})
        return result


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize("size", [6, 7])
@pytest.mark.parametrize("special", [None, np.nan, np.inf, -np.inf])
def test_values(padding: str, window: int, size: int, special: float | None) -> None:
    value = np.random.RandomState(0).randn(2, size, size, 3).astype(np.float32)
    if special is not None:
        value[0, :2, :3] = special
    ours, plain = (pooled(value, window, padding, on) for on in (True, False))
    np.testing.assert_array_equal(ours, plain)
