"""What distributions are built of: checks, static values, triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tensorloom.python.ops.distributions import util

import tensorloom as tf


def _run(tensor: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(tensor, feeds)


def _unknown(value: Any) -> Any:
    return tf.placeholder_with_default(np.asarray(value), None)


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(
    ("upper", "wanted"),
    [
        (False, [[4, 0, 0], [6, 5, 0], [3, 2, 1]]),
        (True, [[1, 2, 3], [0, 5, 6], [0, 0, 4]]),
    ],
)
def test_triangles(upper: bool, wanted: Any, static: bool) -> None:
    x = np.arange(1.0, 7.0)
    given = tf.constant(x) if static else tf.placeholder_with_default(x, [None])
    matrix = util.fill_triangular(given, upper=upper)
    back = util.fill_triangular_inverse(matrix, upper=upper)
    assert matrix.shape.as_list() == ([3, 3] if static else [None, None])
    made, vector = _run([matrix, back])
    np.testing.assert_array_equal(made, wanted)
    np.testing.assert_array_equal(vector, x)


def test_no_triangle() -> None:
    with pytest.raises(ValueError, match="does not correspond"):
        util.fill_triangular(tf.ones([5]))


def test_three_diagonals() -> None:
    matrix = util.tridiag([1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0])
    np.testing.assert_array_equal(_run(matrix), [[3, 6, 0], [1, 4, 7], [0, 2, 5]])
    with pytest.raises(ValueError, match="at least one"):
        util.tridiag()


@pytest.mark.parametrize("shift", [-7, -1, 0, 1, 2, 9])
@pytest.mark.parametrize("static", [True, False])
def test_rotated_axes(shift: int, static: bool) -> None:
    x = np.zeros([1, 2, 3, 4])
    given = x if static else _unknown(x)
    made = _run(util.rotate_transpose(given, shift if static else _unknown(shift)))
    assert made.shape == np.transpose(x, np.roll(np.arange(4), shift)).shape


def test_static_values() -> None:
    known, unknown = tf.ones([2, 3]), _unknown(np.ones([2, 3]))
    assert util.prefer_static_shape(known).tolist() == [2, 3]
    assert util.prefer_static_rank(known) == 2
    assert _run(util.prefer_static_shape(unknown)).tolist() == [2, 3]
    assert util.maybe_get_static_value(unknown) is None
    assert util.maybe_get_static_value(3, np.float32).dtype == np.float32
    broadcast = util.prefer_static_broadcast_shape(tf.TensorShape([2, 1]), [3])
    assert broadcast.as_list() == [2, 3]


@pytest.mark.parametrize(
    ("a", "b", "wanted"), [([2], [3], True), ([2], [[3]], False), ([2], [1, 2], False)]
)
def test_same_shapes(a: Any, b: Any, wanted: bool) -> None:
    assert _run(util.same_dynamic_shape(_unknown(a), _unknown(b))) == wanted


@pytest.mark.parametrize("first", [True, False])
def test_one_of_two_vectors(first: bool) -> None:
    condition = tf.placeholder(tf.bool, [])
    picked = util.pick_vector(condition, tf.range(2), tf.range(5, 9))
    wanted = [0, 1] if first else [5, 6, 7, 8]
    assert _run(picked, {condition: first}).tolist() == wanted


def test_weighted_logarithms() -> None:
    logx = np.array([[1.0, 2.0], [800.0, 800.5]])
    weights = np.array([[1.0, -1.0], [1.0, 1.0]])
    total, sign = _run(
        util.reduce_weighted_logsumexp(logx, weights, axis=-1, return_sign=True)
    )
    assert sign.tolist() == [-1, 1]
    wanted = [np.log(np.e**2 - np.e), 800 + np.log(1 + np.exp(0.5))]
    np.testing.assert_allclose(total, wanted)


def test_inverse_softplus() -> None:
    x = np.array([1e-9, 0.5, 3.0, 700.0])
    back = util.softplus_inverse(tf.nn.softplus(tf.constant(x)))
    np.testing.assert_allclose(_run(back), x, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("check", "good", "bad", "told"),
    [
        (util.embed_check_nonnegative_integer_form, [0.0, 2.0], [-1.0], "non-negative"),
        (util.embed_check_nonnegative_integer_form, [1.0], [1.5], "fractional"),
        (
            lambda x: util.embed_check_integer_casting_closed(x, tf.int8),
            [1.0, 100.0],
            [0.5],
            "int8-equivalent",
        ),
        (
            lambda x: util.embed_check_integer_casting_closed(x, tf.bool),
            [1, 0],
            [2],
            "cannot exceed 1",
        ),
        (util.assert_symmetric, [[1, 2], [2, 1]], [[1, 2], [3, 1]], "not hold"),
    ],
)
def test_checks(check: Any, good: Any, bad: Any, told: str) -> None:
    np.testing.assert_array_equal(_run(check(tf.constant(good))), good)
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        _run(check(_unknown(bad)))


def test_numbers_of_classes() -> None:
    check = util.embed_check_categorical_event_shape
    with pytest.raises(ValueError, match="at least 2 events"):
        check(tf.ones([3, 1]))
    with pytest.raises(ValueError, match="at least 1 dimension"):
        check(tf.constant(1.0))
    with pytest.raises(ValueError, match="exceeds `dtype` precision"):
        check(tf.zeros([2**11 + 1], tf.float16))
    with pytest.raises(TypeError, match="unrecognized dtype"):
        check(tf.ones([2], tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 2 events"):
        _run(check(_unknown([1.0])))


def test_arguments_of_the_caller() -> None:
    def called(a: int, *rest: int, b: int = 2, **more: int) -> dict[str, Any]:
        found: dict[str, Any] = util.parent_frame_arguments()
        return found

    assert called(1, 5, c=3) == {"a": 1, "b": 2, "c": 3}
