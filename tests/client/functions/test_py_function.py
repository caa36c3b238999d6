"""Python functions as ops: what they see, what they may raise, and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _run(fetches: Any, feeds: dict[Any, Any] | None = None) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches, feeds)


def test_values_and_gradients() -> None:
    def branch(a: Any) -> Any:
        return tf.sin(a) * 2.0 if a.numpy()[0] > 0 else a * a

    x = tf.placeholder(tf.float32, [2])
    y = tf.py_function(branch, [x], tf.float32)
    gradient = tf.gradients(y, x)[0]
    assert y.op.type == "EagerPyFunc"
    values = _run([y, gradient], {x: [1.0, 2.0]})
    np.testing.assert_allclose(values[0], 2 * np.sin([1.0, 2.0]), 1e-6)
    np.testing.assert_allclose(values[1], 2 * np.cos([1.0, 2.0]), 1e-6)
    values = _run([y, gradient], {x: [-1.0, 2.0]})
    np.testing.assert_allclose(values, [[1, 4], [-2, 4]])


def test_results_become_what_was_declared() -> None:
    two = tf.py_function(
        lambda a: (a + a.numpy(), tf.size(a)), [tf.ones([3])], [tf.float32, tf.int32]
    )
    values = _run(two)
    assert values[0].tolist() == [2, 2, 2]
    assert values[1] == 3
    assert _run(tf.py_function(lambda: 3, [], tf.float32)) == 3.0
    assert _run(tf.py_function(lambda: None, [], [])) is None
    assert _run(tf.py_func(lambda a: a + b"!", [b"x\0"], tf.string)) == b"x\0!"


ERRORS: list[tuple[type[Exception], type[tf.errors.OpError]]] = [
    (ValueError, tf.errors.InvalidArgumentError),
    (TypeError, tf.errors.InvalidArgumentError),
    (StopIteration, tf.errors.OutOfRangeError),
    (MemoryError, tf.errors.ResourceExhaustedError),
    (NotImplementedError, tf.errors.UnimplementedError),
    (KeyError, tf.errors.UnknownError),
    (ZeroDivisionError, tf.errors.UnknownError),
    (OSError, tf.errors.UnknownError),
]


@pytest.mark.parametrize(("raised", "seen"), ERRORS)
@pytest.mark.parametrize("make", [tf.py_func, tf.py_function])
def test_what_a_function_raises(
    raised: type[Exception], seen: type[tf.errors.OpError], make: Any
) -> None:
    def fails(a: Any) -> Any:
        raise raised("boom")

    failing = make(fails, [1.0], tf.float32)
    fine = tf.constant(1) + 1
    with tf.Session() as sess:
        with pytest.raises(seen, match="boom") as caught:
            sess.run(failing)
        assert type(caught.value) is seen
        assert sess.run(fine) == 2


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a: np.float64(1.0), "is double, but expects float"),
        (lambda a: (a, a), "returns 2 values, but expects to see 1 values"),
        (lambda a: None, "returns 0 values, but expects to see 1 values"),
    ],
)
def test_what_a_function_returns_is_checked(function: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(tf.py_func(function, [1.0], tf.float32))


def test_arrays_of_the_other_byte_order() -> None:
    swapped = np.array([1.0, 2.0], np.dtype(np.float32).newbyteorder())
    result = _run(tf.py_func(lambda: swapped, [], tf.float32))
    assert result.dtype == np.float32
    assert result.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("value", [object(), {}, np.array([1, "a"], object)])
def test_objects_are_no_tensors(value: Any) -> None:
    name = type(value.ravel()[0] if isinstance(value, np.ndarray) else value).__name__
    with pytest.raises(
        tf.errors.InternalError, match=f"Unsupported object type {name}"
    ):
        _run(tf.py_func(lambda: value, [], tf.string))


def test_what_cannot_be_called() -> None:
    for make in (tf.py_func, tf.py_function, tf.numpy_function):
        with pytest.raises(ValueError, match="Expected func to be callable"):
            make(3, [1.0], tf.float32)
