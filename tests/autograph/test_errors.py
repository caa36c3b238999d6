"""Errors name the line of the program, and keep their class."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

import tensorloom as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def undefined_in_loop(x: Any) -> Any:
    for i in tf.range(3):
        z = x + i
    return z


def undefined_in_branch(x: Any) -> Any:
    if x > 0:
        y = x
    return y


def no_return_in_branch(x: Any) -> Any:
    if x > 0:
        return x


def return_in_loop(x: Any) -> Any:
    while x > 0:
        if x > 1:
            return x
        x = x - 1
    return x


def other_dtype_in_branch(x: Any) -> Any:
    y: Any = 0
    if x > 0:
        y = 1
        x += 1
    else:
        y = 1.0
    return y


def other_dtype_after_iteration(x: Any) -> Any:
    y = 1
    while x > 0:
        y = tf.constant(2.0)
        x = x - 1
    return y


def other_structure(x: Any) -> Any:
    y = (1, 2)
    while x > 0:
        y = (1, (2, 3))
        x = x - 1
    return y


def other_shape(x: Any) -> Any:
    y = tf.zeros([2])
    for _ in tf.range(x):
        y = tf.zeros([3])
    return y


def missing_key(x: Any) -> Any:
    found: dict[str, Any] = {}
    return found["key"] + x


def helper(x: Any) -> Any:
    raise RuntimeError("from the helper")


def raised_below(x: Any) -> Any:
    return helper(x + 1)


def bad_shapes(x: Any) -> Any:
    return tf.matmul(x, x)


CASES = [
    (undefined_in_loop, ValueError, "defined before the loop: ('z',)", "for i in"),
    (undefined_in_branch, ValueError, "in the else branch: ('y',)", "if x > 0"),
    (no_return_in_branch, ValueError, "returned from the else branch", "if x > 0"),
    (return_in_loop, ValueError, "within a TensorFlow loop", "while x > 0"),
    (
        other_dtype_in_branch,
        TypeError,
        '"y" has dtype int32 in the TRUE branch, but dtype=float32 in the FALSE',
        "if x > 0",
    ),
    (
        other_dtype_after_iteration,
        TypeError,
        '"y" has dtype int32 before the loop, but dtype float32 after one',
        "while x > 0",
    ),
    (other_structure, TypeError, "same nested structure after one", "while x > 0"),
    (other_shape, ValueError, '"y" has shape (2,) before the loop', "for _ in"),
    (missing_key, KeyError, "'key'", 'return found["key"] + x'),
    (raised_below, RuntimeError, "from the helper", 'raise RuntimeError("from'),
    (bad_shapes, ValueError, "Shape must be rank 2", "return tf.matmul(x, x)"),
]


@pytest.mark.parametrize(
    ("function", "kind", "message", "line"),
    CASES,
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_the_message_has_the_line(
    function: Any, kind: type[Exception], message: str, line: str
) -> None:
    with pytest.raises(kind) as caught:
        tf.function(function)(tf.constant(3))
    told = str(caught.value)
    assert type(caught.value).__name__ == kind.__name__
    assert told.startswith("in converted code:")
    assert message in told
    before, found, _ = told.partition(line)
    assert found, told
    number = function.__code__.co_firstlineno
    assert f"{__file__.rpartition('/')[2]}:" in before
    assert f" {function.__name__}  *\n" in told
    assert any(f":{number + n} " in told for n in range(1, 8))


def test_operations_and_tracebacks_have_the_line_of_the_program() -> None:
    def divided(x: Any) -> Any:
        total = 0
        for i in tf.range(3):
            total += x // i
        return total

    converted = tf.autograph.to_graph(divided)
    result = converted(tf.constant(6))
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(result)
    line = divided.__code__.co_firstlineno + 3
    assert f"test_errors.py:{line}" in str(caught.value)


class OwnError(Exception):
    def __init__(self, one: Any, two: Any) -> None:
        super().__init__(one, two)


def test_a_class_with_another_constructor_becomes_a_staging_error() -> None:
    def f() -> None:
        raise OwnError(1, 2)

    with pytest.raises(
        tf.contrib.autograph.AutoGraphError, match=r"OwnError: \(1, 2\)"
    ):
        tf.function(f)()


class Private:
    def __init__(self) -> None:
        self.__hidden = 3

    def get(self, x: Any) -> Any:
        return self.__hidden + x


def generated(n: Any) -> Any:
    yield from range(n)


def through_generator(x: Any) -> Any:
    return sum(generated(3)) + x


@pytest.mark.parametrize(
    ("function", "warning"),
    [
        (Private().get, "Mangled names are not yet supported by AutoGraph (line"),
        (through_generator, "appears to be a generator function"),
        (eval("lambda x: x + 3"), ""),
        (int.__add__.__get__(3), ""),
    ],
)
def test_what_is_not_converted_runs_as_it_is(
    function: Any, warning: str, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("tensorflow")
    logger.addHandler(caplog.handler)
    try:
        options = tf.contrib.autograph.ConversionOptions(recursive=True)
        called = tf.contrib.autograph.converted_call(function, options, (4,), None)
    finally:
        logger.removeHandler(caplog.handler)
    assert called == 7
    assert warning in caplog.text
    if warning:
        assert "test_errors.py:" in caplog.text


def test_what_to_graph_refuses() -> None:
    with pytest.raises(NotImplementedError, match="Generators are not supported"):
        tf.autograph.to_graph(generated)
    with pytest.raises(NotImplementedError, match="object conversion"):
        tf.autograph.to_graph(3)
    with pytest.raises(tf.contrib.autograph.AutoGraphError, match="no member methods"):
        tf.autograph.to_graph(type("Empty", (), {}))


def test_directives_are_checked() -> None:
    def outside(x: Any) -> Any:
        tf.autograph.experimental.set_loop_options(parallel_iterations=3)
        return x

    def inside(x: Any) -> Any:
        while x > 0:
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
            x -= 1
        return x

    error = tf.contrib.autograph.AutoGraphError
    with pytest.raises(error, match="must be used inside a statement"):
        tf.autograph.to_graph(outside)
    assert "set_loop_options" not in tf.autograph.to_code(inside)
