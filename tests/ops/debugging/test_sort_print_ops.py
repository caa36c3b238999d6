"""sort, argsort, histograms, unravel_index, Print, timestamp; TensorFlow's numbers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_X = np.array([[3, 1, 2, 1], [9, -5, 7, 7]], np.float32)


@pytest.fixture
def run() -> Any:
    tf.reset_default_graph()
    with tf.Session() as session:
        yield session.run


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("axis", [0, -1, -2])
def test_sort(axis: int, static: bool, run: Any) -> None:
    x = _X if static else tf.placeholder_with_default(_X, None)
    assert run(tf.sort(x, axis)).tolist() == np.sort(_X, axis).tolist()
    order = np.argsort(_X, axis, kind="stable")
    assert run(tf.argsort(x, axis)).tolist() == order.tolist()
    descending = run(tf.sort(x, axis, "DESCENDING"))
    assert descending.tolist() == (-np.sort(-_X, axis)).tolist()


def test_sort_refuses() -> None:
    with pytest.raises(ValueError, match="axis must be a constant scalar"):
        tf.sort(_X, tf.placeholder(tf.int32, []))
    with pytest.raises(ValueError, match="should be one of ASCENDING, DESCENDING"):
        tf.sort(_X, direction="UP")


@pytest.mark.parametrize(
    ("values", "value_range", "nbins", "counts"),
    [
        ([-1.0, 0, 1.5, 2, 5, 15], [0.0, 5.0], 5, [2, 1, 1, 0, 2]),
        ([-1.0, 0, 1.5, 2, 5, 15], [0.0, 5.0], 3, [3, 1, 2]),
        ([1, 2, 3, 4, 5, 6], [0, 5], 10, [0, 0, 1, 0, 1, 0, 1, 0, 1, 2]),
    ],
)
def test_histogram(
    values: Any, value_range: Any, nbins: int, counts: list[int], run: Any
) -> None:
    made = tf.histogram_fixed_width(values, value_range, nbins)
    assert made.shape.as_list() == [nbins]
    assert run(made).tolist() == counts


def test_histogram_bins_and_errors(run: Any) -> None:
    bins = tf.histogram_fixed_width_bins([-1.0, 0, 1.5, 2, 5, 15], [0.0, 5.0], 5)
    assert run(bins).tolist() == [0, 0, 1, 2, 4, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"got '\[3, 1\]'"):
        run(tf.histogram_fixed_width([1.0], [3.0, 1.0]))
    with pytest.raises(ValueError, match="Requires nbins > 0: 0"):
        tf.histogram_fixed_width([1.0], [0.0, 1.0], 0)


@pytest.mark.parametrize(
    ("indices", "dims", "expected"),
    [
        ([2, 5, 7], [3, 3], [[0, 1, 2], [2, 2, 1]]),
        (2, [3, 3], [0, 2]),
        ([9], [3, 3], [[0], [0]]),
        ([-1], [3, 3], [[0], [-1]]),
        ([2, 5], np.zeros([0], np.int32), []),
    ],
)
def test_unravel_index(indices: Any, dims: Any, expected: Any, run: Any) -> None:
    assert run(tf.unravel_index(indices, dims)).tolist() == expected


@pytest.mark.parametrize(
    ("indices", "dims", "message"),
    [([[2]], [3, 3], "scalar or vector"), ([1], [0, 3], "contains zero at index 0")],
)
def test_unravel_index_refuses(indices: Any, dims: Any, message: str, run: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.unravel_index(indices, dims))


def test_print_v1(run: Any, capfd: pytest.CaptureFixture[str]) -> None:
    x = tf.constant(np.arange(12.0).reshape(3, 4))
    y = tf.Print(x, [x, x[0], tf.constant(["a", "b"])], "m ", first_n=1)
    (grad,) = tf.gradients(y, x)
    assert run(y).tolist() == run(y).tolist()
    assert run(grad).tolist() == np.ones((3, 4)).tolist()
    assert capfd.readouterr().err == "m [[0 1 2...]...][0 1 2...][a b]\n"


def test_print_v2(run: Any, capfd: pytest.CaptureFixture[str]) -> None:
    run(tf.print("hi", tf.range(10), {"a": tf.constant(1), "b": [3, "q"]}, end="!\n"))
    run(tf.print(tf.constant("only")))
    run(tf.print("x", 1, sep=","))
    expected = "hi [0 1 2 ... 7 8 9] {'a': 1, 'b': [3, 'q']}!\nonly\nx,1\n"
    assert capfd.readouterr().err == expected
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print(1, output_stream="x")
    with pytest.raises(ValueError, match="Unrecognized keyword"):
        tf.print(1, colour=2)


def test_timestamp(run: Any) -> None:
    assert abs(run(tf.timestamp()) - time.time()) < 60
