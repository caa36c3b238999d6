"""Real machine code: torch compiles clusters of each kind of op, and it is right."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.worker.compiled import background, program, request

pytestmark = pytest.mark.compiler

_SIZE = (96, 96)


@pytest.fixture(autouse=True)
def _compiles(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    monkeypatch.setenv(background.SWITCH, "1")
    # What torch compiles once for all, such as its headers, is kept for the next test.
    folder = tmp_path_factory.getbasetemp() / "compiled"
    monkeypatch.setenv(request.CACHE, str(folder))
    threads = background.Background(background._process)
    monkeypatch.setattr(background, "_background", threads)
    # Of so few elements kernels may be as quick.
    monkeypatch.setattr(background, "is_quicker", lambda code, kernels: True)
    yield
    threads.stop()


def _elementwise(x: Any, y: Any) -> Any:
    a = tf.tanh(x) + tf.exp(-y) * tf.sqrt(x) - tf.math.log1p(y) / 3.0
    b = tf.sigmoid(a) * tf.nn.softplus(y) + tf.math.rsqrt(x + 1.0) - tf.math.erf(a)
    c = tf.where(tf.logical_and(a > b, x < 0.5), a, tf.maximum(b, tf.minimum(x, y)))
    return c, tf.cast(tf.greater_equal(c, 0.1), tf.int32) * 3


def _reductions(x: Any, y: Any) -> Any:
    z = x * 2.0 - y
    is_less = tf.reduce_any(z < 0.01, 1)
    rows = tf.stack([tf.reduce_sum(z, 1), tf.reduce_mean(z, 0), tf.reduce_max(z, 1)])
    return rows, tf.reduce_min(z, [0, 1], keepdims=True), is_less


def _layers(x: Any, y: Any) -> Any:
    a = tf.nn.relu(tf.matmul(x, y) + y[0])
    b = tf.tanh(tf.nn.bias_add(tf.matmul(a, y, transpose_b=True), x[1]))
    return tf.nn.softmax(b), tf.nn.log_softmax(a), tf.nn.l2_loss(b)


def _shapes(x: Any, y: Any) -> Any:
    a = tf.concat([tf.transpose(x, [1, 0]), tf.reshape(y * 2.0, [-1, 96])], 0)
    b = tf.tile(tf.expand_dims(a[1:, ::2], 1), [1, 2, 1]) + 1.0
    return tf.pad(tf.split(b, 2, 1)[0], [[0, 0], [0, 0], [1, 2]]) * 3.0


def _gradients(x: Any, y: Any) -> Any:
    loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(
            logits=tf.tanh(tf.matmul(x, y) / 50.0) * 2.0, labels=x
        )
    )
    return [loss, *tf.gradients(loss, [x, y])]


def _images(x: Any, y: Any) -> Any:
    image = tf.reshape(x * 1.5, [1, 96, 96, 1])
    kernel = tf.reshape(y[:3, :12] + 0.5, [3, 3, 1, 4])
    layer = tf.nn.relu(tf.nn.conv2d(image, kernel, 1, "SAME"))
    square = tf.reshape(y[:16, :4] + 0.5, [2, 2, 4, 4])
    second = tf.nn.conv2d(layer, square, 1, "SAME")
    layer = tf.tanh(tf.nn.bias_add(second, x[0, :4]))
    return tf.nn.avg_pool(layer * 2.0, 2, 2, "SAME") + 1.0


def _maxima(x: Any, y: Any) -> Any:
    image = tf.reshape(tf.concat([x, y], 0), [2, 96, 24, 4])
    # Windows of NaN alone, and of -inf: the least number is their maximum.
    odd = tf.where(image < 0.9, image, tf.log(image - 2.0))
    odd = tf.where(odd < 0.1, tf.log(odd * 0.0), odd)
    sides = tf.nn.max_pool(odd, 2, 2, "VALID") * 2.0
    beyond = tf.nn.max_pool(odd, [1, 3, 2, 1], [1, 2, 3, 1], "SAME")
    small = tf.nn.max_pool(odd[:, :2, :2] + 0.0, 1, 1, "SAME")
    return sides + 1.0, beyond + 0.0, small * 1.0


_CASES = [_elementwise, _reductions, _layers, _shapes, _gradients, _images, _maxima]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("build", _CASES, ids=lambda b: b.__name__.strip("_"))
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_a_step_gives_what_it_gave(
    build: Callable[..., Any], dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[program.Program] = []
    before = program.Program.__init__

    def init(self: program.Program, *args: Any) -> None:
        made.append(self)
        before(self, *args)

    monkeypatch.setattr(program.Program, "__init__", init)
    random = np.random.RandomState(0)
    fed = [random.rand(*_SIZE) for _ in range(4)]
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = (tf.placeholder(dtype, [None, 96]) for _ in range(2))
        with tf.contrib.compiler.jit.experimental_jit_scope():
            results = build(x, y)
        first = session.run(results, {x: fed[0], y: fed[1]})
        other = session.run(results, {x: fed[2], y: fed[3]})
        background.wait()
        assert made
        assert all(each._codes for each in made if each._asked)
        for values, wanted in ((fed[:2], first), (fed[2:], other)):
            got = session.run(results, {x: values[0], y: values[1]})
            for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(wanted), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_code_stays_on_disk() -> None:
    folder = Path(os.environ[request.CACHE])

    def run() -> Any:
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None, 96])
            with tf.contrib.compiler.jit.experimental_jit_scope():
                y = tf.exp(x) * 7.25 + 1.0
            result = session.run(y, {x: np.ones(_SIZE)})
            background.wait()
            return result

    first, files = run(), {f: f.stat().st_mtime_ns for f in folder.glob("*.pt2")}
    np.testing.assert_array_equal(run(), first)
    assert files == {f: f.stat().st_mtime_ns for f in folder.glob("*.pt2")}
