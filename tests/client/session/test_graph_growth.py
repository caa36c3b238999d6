"""The warning for graphs that grow while a program runs steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf


def caught(program: Callable[[Any], None]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with tf.Graph().as_default(), tf.Session() as sess:
            program(sess)
    return found


def assigns_in_the_loop(sess: Any) -> None:
    v = tf.Variable(0.0)
    sess.run(v.initializer)
    for _ in range(100):
        sess.run(v.assign_add(1.0))  # the line


def converts_in_the_loop(sess: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    for _ in range(40):
        sess.run(x + 1.0, {x: [1.0, 2.0]})  # the line


def slices_with_eval(sess: Any) -> None:
    x = tf.constant([1.0, 2.0])
    for i in range(40):
        x[i % 2].eval(session=sess)  # the line


GROWING = [assigns_in_the_loop, converts_in_the_loop, slices_with_eval]


@pytest.mark.parametrize("program", GROWING, ids=lambda program: program.__name__)
def test_one_warning_with_the_line(program: Callable[[Any], None]) -> None:
    import inspect

    (warning,) = caught(program)
    lines, first = inspect.getsourcelines(program)
    line = first + next(i for i, text in enumerate(lines) if "# the line" in text)
    assert f"test_graph_growth.py:{line} adds operations" in str(warning.message)
    assert "test_graph_growth.py" in warning.filename
    assert warning.lineno == line


def builds_first(sess: Any) -> None:
    v = tf.Variable(0.0)
    add = v.assign_add(1.0)
    sess.run(v.initializer)
    for _ in range(100):
        sess.run(add)


def builds_in_stages(sess: Any) -> None:
    x = tf.constant(1.0)
    for _ in range(5):
        x = x * 2.0
        sess.run(x)
    for _ in range(50):
        x = x + 1.0
    sess.run(x)


@pytest.mark.parametrize(
    "program", [builds_first, builds_in_stages], ids=lambda program: program.__name__
)
def test_no_warning_for_setup(program: Callable[[Any], None]) -> None:
    assert caught(program) == []


def test_a_finalized_graph_refuses() -> None:
    x = tf.constant(1.0)
    with tf.Session() as sess:
        tf.get_default_graph().finalize()
        sess.run(x)
        with pytest.raises(RuntimeError, match="finalized"):
            x + 1.0
        assert sess.run(x) == 1.0
