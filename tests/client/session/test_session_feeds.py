"""Feeds: what converts, what is refused, and that nothing is copied needlessly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.client.session.feed_conversion import feed_converter
from tensorloom.framework.types.constant_value import constant_value

ACCEPTED = [
    ("float32", [], 2.5, np.float32(2.5)),
    ("float32", [], 3, np.float32(3)),
    ("float32", [], np.float64(0.5), np.float32(0.5)),
    ("float32", [], np.array(0.5), np.float32(0.5)),
    ("float32", None, 1.5, np.float32(1.5)),
    ("float32", [2], [1, 2], np.array([1, 2], np.float32)),
    ("float32", [None], (1.0,), np.array([1], np.float32)),
    ("float32", [2], np.array([1, 2], ">f4"), np.array([1, 2], np.float32)),
    ("float64", [1, 2], [[1, 2]], np.array([[1, 2]], np.float64)),
    ("int32", [], 1.5, np.int32(1)),
    ("int32", [], np.int64(7), np.int32(7)),
    ("int32", [2], [2**32 + 5, 0], np.array([5, 0], np.int32)),
    ("int32", [2], np.array([2**32 + 5, -1]), np.array([5, -1], np.int32)),
    ("int32", [None], np.array([7], np.uint8), np.array([7], np.int32)),
    ("int64", [1, 1], np.array([[7]], ">i4"), np.array([[7]], np.int64)),
    ("int16", None, np.array([9.5]), np.array([9], np.int16)),
    ("uint8", [1], np.array([-1]), np.array([255], np.uint8)),
    ("uint8", [], 255, np.uint8(255)),
    ("bool", [], True, np.bool_(True)),
    ("bool", [2], [0, 1], np.array([False, True])),
    ("float16", [], 1.5, np.float16(1.5)),
    ("complex64", [], 1 + 2j, np.complex64(1 + 2j)),
    ("string", [], "é", np.array("é".encode(), object)),
    ("string", [], b"x", np.array(b"x", object)),
    ("string", [2], ["a", b"b"], np.array([b"a", b"b"], object)),
    ("string", [None], np.array(["ab", "c"]), np.array([b"ab", b"c"], object)),
    ("string", [1], np.array([b"ab"]), np.array([b"ab"], object)),
]


@pytest.mark.parametrize(("dtype", "shape", "value", "expected"), ACCEPTED, ids=str)
def test_accepted(dtype: str, shape: Any, value: Any, expected: Any) -> None:
    converted = feed_converter(tf.placeholder(dtype, shape))(value)
    assert type(converted) is type(expected)
    assert converted.dtype == expected.dtype
    np.testing.assert_array_equal(converted, expected)


REFUSED = [
    ("int32", [], 2**40, TypeError, "Type of feed value 1099511627776 with type"),
    ("uint8", [], -1, TypeError, "is not compatible with Tensor type"),
    ("bool", [], 5, TypeError, "is not compatible with Tensor type"),
    ("float32", [], 2**24 + 1, TypeError, "larger type (e.g. int64)"),
    ("string", [], 5, TypeError, "is not compatible with Tensor type <class 'object'>"),
    ("string", [1], [5], tf.errors.InternalError, "Unsupported object type int"),
    ("int32", [], float("inf"), OverflowError, "cannot convert float infinity"),
    ("int32", [1], [float("inf")], OverflowError, "cannot convert float infinity"),
    ("float32", [2], [1.0], ValueError, "Cannot feed value of shape (1,) for Tensor"),
    ("float32", [2], 1.0, ValueError, "Cannot feed value of shape () for Tensor"),
    ("float32", [2], None, ValueError, "which has shape '(2,)'"),
    ("float32", [None, 2], [[1.0]], ValueError, "which has shape '(?, 2)'"),
    ("float32", [2], ["a", "b"], ValueError, "could not convert string to float"),
    ("float32", None, [[1], [2, 3]], ValueError, "setting an array element"),
]


@pytest.mark.parametrize(
    ("dtype", "shape", "value", "error", "message"), REFUSED, ids=str
)
def test_refused(
    dtype: str, shape: Any, value: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as info:
        feed_converter(tf.placeholder(dtype, shape))(value)
    assert message in str(info.value)


@given(
    dims=st.lists(st.integers(0, 3), max_size=3),
    known=st.lists(st.booleans(), min_size=3, max_size=3),
    other=st.lists(st.integers(0, 3), max_size=3),
)
@settings(max_examples=60, deadline=None)
def test_shapes(dims: list[int], known: list[bool], other: list[int]) -> None:
    with tf.Graph().as_default():
        static = [d if k else None for d, k in zip(dims, known, strict=False)]
        convert = feed_converter(tf.placeholder(tf.float32, static))
    right = np.zeros(dims, np.float32)
    assert convert(right).shape == tuple(dims)
    fits = len(other) == len(dims) and all(
        s is None or s == o for s, o in zip(static, other, strict=True)
    )
    wrong = np.zeros(other, np.float32)
    if fits:
        assert convert(wrong).shape == tuple(other)
    else:
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            convert(wrong)


def test_an_array_of_the_right_dtype_is_not_copied() -> None:
    array = np.ones([4, 2], np.float32)
    for shape in (None, [4, 2], [None, 2]):
        assert feed_converter(tf.placeholder(tf.float32, shape))(array) is array


def test_keys_of_every_kind() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.placeholder(tf.float32, [], name="y")
    v = tf.get_variable("v", initializer=1.0)
    z = tf.add(x, y, name="z")
    s = tf.sparse_placeholder(tf.float32, name="s")
    total = tf.reduce_sum(s.values)
    with tf.Session() as sess:
        assert sess.run(z, {x: 1, y: 2}) == 3
        assert sess.run(z, {y: 1, x: 2}) == 3
        assert sess.run(z, {"x:0": 1, y: 2}) == 3
        assert sess.run(z, {x: 1, y: 2, "x:0": 5}) == 7  # the later one counts
        assert sess.run(z, {(x, y): (1, 2)}) == 3
        assert sess.run(z + 1.0, {z: 9}) == 10  # any tensor can be fed
        assert sess.run(v + 1.0, {v: 4}) == 5
        value = tf.SparseTensorValue([[0]], [2.5], [3])
        assert sess.run(total, {s: value}) == 2.5
        assert sess.run(total, {s: ([[0]], [3.5], [3])}) == 3.5


def test_what_is_fed_and_fetched_comes_back() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x * 2.0
    with tf.Session() as sess:
        assert sess.run(x, {x: [1, 2]}).tolist() == [1, 2]
        given_, doubled = sess.run([x, y], {x: [1, 2]})
        assert given_.tolist() == [1, 2]
        assert doubled.tolist() == [2, 4]
        assert sess.run({"y": y}, {y: [7, 8]})["y"].tolist() == [7, 8]


BAD_DICTS = [
    ({5: 1}, TypeError, "Cannot interpret feed_dict key as Tensor: Can not convert a"),
    ({"x": 1}, TypeError, "refers to an Operation, not a Tensor"),
    ({"no:0": 1}, TypeError, "does not exist in the graph"),
    ([1], TypeError, "input must be a dictionary"),
    (5, TypeError, "input must be a dictionary"),
]


@pytest.mark.parametrize(("feeds", "error", "message"), BAD_DICTS, ids=str)
def test_bad_feed_dicts(feeds: Any, error: type[Exception], message: str) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as sess:
        with pytest.raises(error) as info:
            sess.run(x + 1.0, feeds)
        assert message in str(info.value)
        assert sess.run(x + 1.0, {x: 1}) == 2


def test_a_list_of_keys_is_no_feed_dict_even_when_the_dict_was_run() -> None:
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    with tf.Session() as sess:
        sess.run(y, {x: 1})
        with pytest.raises(TypeError, match="input must be a dictionary"):
            sess.run(y, [x])


def test_tensors_are_no_values() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = x + 1.0
    with tf.Session() as sess:
        with pytest.raises(TypeError, match=r"feed cannot be a tf.Tensor object"):
            sess.run(y, {x: y})
        tf.get_default_graph().prevent_feeding(y)
        with pytest.raises(ValueError, match="may not be fed"):
            sess.run(y * 2.0, {y: 1})


def test_a_missing_feed_names_the_placeholder() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x + 1.0
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as info:
            sess.run(y)
        assert info.value.op is x.op
        assert info.value.node_def.name == "x"
        text = "You must feed a value for placeholder tensor 'x' with dtype float"
        assert text in info.value.message
        assert "test_session_feeds.py" in info.value.message
        assert sess.run(y, {x: [1, 2]}).tolist() == [2, 3]


def test_the_fixed_shape_of_a_sparse_placeholder_need_not_be_fed() -> None:
    fixed = tf.sparse_placeholder(tf.float32, shape=[3])
    free = tf.sparse_placeholder(tf.float32)
    value = np.array([[1]]), np.array([2.0], np.float32)
    with tf.Session() as sess:
        dense = sess.run(tf.sparse_tensor_to_dense(fixed), {fixed: value})
        assert dense.tolist() == [0, 2, 0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="no value"):
            sess.run(tf.sparse_tensor_to_dense(free), {free: value})


def test_a_shape_whose_value_was_used_may_not_be_fed() -> None:
    fixed = tf.sparse_placeholder(tf.float32, shape=[3])
    assert constant_value(fixed.dense_shape).tolist() == [3]
    dense = tf.sparse_tensor_to_dense(fixed)
    value = np.array([[1]]), np.array([2.0], np.float32)
    with tf.Session() as sess:
        assert sess.run(dense, {fixed: value}).tolist() == [0, 2, 0]
        with pytest.raises(ValueError, match="may not be fed"):
            sess.run(dense, {fixed: (*value, np.array([3]))})


@pytest.mark.parametrize(
    "text",
    [
        np.array([["a", "bc"], ["", "d\0e"]]),
        np.array([["a", "bc"], ["f", "de"]]).T,
        np.array(["é", "x"]),
        np.array(["ab", "c"], ">U2"),
        np.array(["", ""]),
        np.array([], "U3"),
        np.array("x"),
    ],
)
def test_text_becomes_bytes(text: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.string)
        found: Any = session.run(tf.identity(fed), {fed: text})
    expected = np.vectorize(str.encode, otypes=[object])(text)
    assert np.asarray(found, object).tolist() == expected.tolist()
