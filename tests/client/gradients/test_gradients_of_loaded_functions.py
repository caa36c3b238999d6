"""Custom gradients in exported graphs, and in their functions, in a new process.

As in TensorFlow, overrides are attrs of nodes and need the registration of their name;
what Python alone knew is gone. A function of the library is differentiated by the types
of its operations: overrides in it count for nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.functions.function import Defun
from tensorloom.framework.registry import gradient_registry

HALF = "TestHalfOfLoaded"
DERIVATIVE = [3.0 * 4 * 3, 3.0 * 4 * 6]  # of 2 (3 x)^2 at 1 and 2
LOADER = f"""
import json, sys
import tensorloom as tf

@tf.RegisterGradient("{HALF}")
def half(op, grad):
    return grad * 0.5

found = {{}}
for path in sys.argv[1:]:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.saved_model.loader.load(sess, ["serve"], path)
        x, y = (graph.get_tensor_by_name(name) for name in ("x:0", "y:0"))
        (v,) = tf.global_variables()
        try:
            gradient = tf.gradients(y, x)[0]
        except LookupError as error:
            found[path] = str(error)
            continue
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
        before, got = sess.run([v, gradient], {{x: [1.0, 2.0]}})
        sess.run(train, {{x: [1.0, 2.0]}})
        found[path] = got.tolist(), float((before - sess.run(v)) / 0.1)
print(json.dumps(found))
"""


def square(x: Any) -> Any:
    return tf.square(x) * 2.0


def overridden(x: Any) -> Any:
    with tf.get_default_graph().gradient_override_map({"Square": HALF}):
        return square(x)


@tf.custom_gradient
def custom(x: Any) -> Any:
    return square(x), lambda dy: dy * 100.0


def of_custom(x: Any) -> Any:
    return custom(x)


def defun(body: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    def call(x: Any) -> Any:
        return Defun(tf.float32, **options)(body)(x)

    return call


def tenfold(op: Any, grad: Any) -> Any:
    return grad * 10.0


def elevenfold(x: Any) -> Any:
    @Defun(tf.float32, tf.float32)
    def gradient(x: Any, dy: Any) -> Any:
        return dy * 11.0

    return defun(square, grad_func=gradient)(x)


def branch(x: Any) -> Any:
    return tf.cond(x[0] > 0.0, lambda: overridden(x), lambda: x)


# How y is made of 3 x, and the gradient of y in this process and in a new one.
CASES: dict[str, tuple[Callable[..., Any], list[float], list[float] | str]] = {
    "override": (overridden, [3.0] * 2, [3.0] * 2),
    "override_in_branch": (branch, [3.0] * 2, [3.0] * 2),
    "custom": (custom, [300.0] * 2, "No gradient defined for operation 'IdentityN'"),
    "override_in_defun": (defun(overridden), DERIVATIVE, DERIVATIVE),
    "custom_in_defun": (defun(of_custom), DERIVATIVE, DERIVATIVE),
    "custom_in_function": (
        lambda x: tf.function(custom, autograph=False)(x),
        [300.0] * 2,
        DERIVATIVE,
    ),
    "defun_in_defun": (defun(defun(overridden)), DERIVATIVE, DERIVATIVE),
    "python_gradient": (
        defun(square, python_grad_func=tenfold),
        [30.0] * 2,
        DERIVATIVE,
    ),
    "python_gradient_in_function": (
        lambda x: tf.function(defun(square, python_grad_func=tenfold), autograph=False)(
            x
        ),
        [30.0] * 2,
        DERIVATIVE,
    ),
    "gradient_function": (elevenfold, [33.0] * 2, [33.0] * 2),
}


@pytest.fixture
def half():
    """The gradient that the overrides name."""
    if HALF not in gradient_registry._BY_NAME:
        tf.RegisterGradient(HALF)(lambda op, grad: grad * 0.5)


def build(case: str) -> tuple[Any, Any]:
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.get_variable("v", initializer=3.0)
    return x, tf.identity(CASES[case][0](x * v), name="y")


@pytest.mark.parametrize("case", CASES)
def test_in_the_process_that_built_it(half, case):
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = build(case)
        gradient = tf.gradients(y, x)[0]
        sess.run(tf.global_variables_initializer())
        assert sess.run(gradient, {x: [1.0, 2.0]}).tolist() == CASES[case][1]


@pytest.mark.slow
def test_in_a_new_process_and_trained_further(half, tmp_path):
    for case in CASES:
        with tf.Graph().as_default(), tf.Session() as sess:
            x, y = build(case)
            sess.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(sess, str(tmp_path / case), {"x": x}, {"y": y})
    paths = [str(tmp_path / case) for case in CASES]
    done = subprocess.run(
        [sys.executable, "-c", LOADER, *paths],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    for path, got in found.items():
        expected = CASES[Path(path).name][2]
        if isinstance(expected, str):
            assert got.startswith(expected), path
        else:
            gradient, step = got
            assert gradient == expected, path
            # y depends on v as on x, for which a gradient is three times as large.
            assert step == pytest.approx(
                sum(g * x / 3 for g, x in zip(expected, [1, 2], strict=True)), rel=1e-4
            ), path


@pytest.mark.parametrize("wrap", [defun, lambda f: tf.function(f, autograph=False)])
def test_functions_do_not_take_the_overrides_around_their_calls(half, wrap):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2])
        with graph.gradient_override_map({"Square": HALF}):
            y = wrap(square)(x)
        gradient = tf.gradients(y, x)[0]
        assert sess.run(gradient, {x: [1.0, 2.0]}).tolist() == [4.0, 8.0]


def test_loops_and_branches_take_them_unless_they_are_functions(half, monkeypatch):
    def gradient() -> list[float]:
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            x = tf.placeholder(tf.float32, [2])
            with graph.gradient_override_map({"Square": HALF}):
                y = tf.cond(x[0] > 0.0, lambda: square(x), lambda: x)
            return sess.run(tf.gradients(y, x)[0], {x: [1.0, 2.0]}).tolist()

    from tensorloom.framework.graph import classic_node_counts

    assert gradient() == [1.0, 1.0]
    form = classic_node_counts.Form.FUNCTIONS
    monkeypatch.setattr(classic_node_counts, "_form", form)
    assert gradient() == [4.0, 8.0]
