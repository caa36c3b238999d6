"""Builders of the math ops: names, dtypes, static shapes, errors, operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf


def ops_made() -> list[tuple[str, str]]:
    """(name, type) of every operation of the default graph."""
    return [(op.name, op.type) for op in tf.get_default_graph().get_operations()]


# --- operators -----------------------------------------------------------------


def test_names_of_operators() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    _ = x + 1, 2.0 - x, x / x, -x, x**2, abs(x)
    assert ops_made() == [
        ("x", "Placeholder"),
        ("add/y", "Const"),
        ("add", "AddV2"),
        ("sub/x", "Const"),
        ("sub", "Sub"),
        ("truediv", "RealDiv"),
        ("Neg", "Neg"),
        ("pow/y", "Const"),
        ("pow", "Pow"),
        ("Abs", "Abs"),
    ]


def test_operators_under_a_scope() -> None:
    with tf.name_scope("s"):
        x = tf.placeholder(tf.int32, [], name="x")
        assert (x + x).name == "s/add:0"
        assert (x + x).name == "s/add_1:0"
        assert (x + 1).name == "s/add_2:0"
        assert (x // x).op.type == "FloorDiv"
        assert (x / x).dtype == tf.float64
        assert (x / 2).op.inputs[0].name == "s/truediv_1/Cast:0"


def test_bool_operators() -> None:
    p = tf.placeholder(tf.bool, [2])
    assert [t.op.type for t in (p & p, p | p, ~p, p ^ p)] == [
        "LogicalAnd",
        "LogicalOr",
        "LogicalNot",
        "LogicalAnd",
    ]
    with tf.Session() as session:
        got = session.run([p & True, False | p, p ^ p], {p: [True, False]})
    assert [v.tolist() for v in got] == [[True, False], [True, False], [False, False]]


def test_equality_is_identity() -> None:
    x = tf.constant(1.0)
    assert (x == x) is True
    assert (x != tf.constant(1.0)) is True


def test_arrays_and_lists_on_the_left() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.Session() as session:
        for left in ([1, 2], np.array([1, 2], np.float32), np.float32(1)):
            assert session.run(left * x).tolist() == (np.array(left) * [1, 2]).tolist()
        product = session.run([[1.0, 0.0]] @ tf.ones([2, 1]))
    assert product.tolist() == [[1]]


def test_another_class_may_take_over() -> None:
    class Right:
        def __radd__(self, other: Any) -> str:
            return "right"

    assert tf.constant(1.0) + Right() == "right"


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.constant(1.0) + tf.constant(1),
        lambda: tf.constant(1) + 2.5,
        lambda: tf.constant([1, 2]) + "a",
        lambda: tf.constant(1.0) & tf.constant(1.0),
        lambda: tf.complex(tf.constant(1.0), tf.constant(1.0, tf.float64)),
        lambda: tf.reduce_sum(tf.zeros([2]), [0.5]),
        lambda: tf.reduce_all(tf.zeros([2])),
        lambda: tf.truediv(tf.constant(1), tf.constant(1.0)),
        lambda: tf.global_norm(tf.zeros([2])),
    ],
)
def test_wrong_dtypes(make: Any) -> None:
    with pytest.raises(TypeError):
        make()


# Recorded from TensorFlow 1.15.0.
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: tf.zeros([2, 3]) + tf.zeros([4]),
            "Dimensions must be equal, but are 3 and 4 for 'add' (op: 'AddV2')",
        ),
        (
            lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([4, 5])),
            "Dimensions must be equal, but are 3 and 4 for 'MatMul' (op: 'MatMul')",
        ),
        (
            lambda: tf.matmul(tf.zeros([2]), tf.zeros([4, 5])),
            "Shape must be rank 2 but is rank 1 for 'MatMul' (op: 'MatMul')",
        ),
        (
            lambda: tf.reduce_sum(tf.zeros([2, 3]), [5]),
            "Invalid reduction dimension 5 for input with 2 dimensions. for 'Sum'",
        ),
        (
            lambda: tf.argmax(tf.zeros([2, 3]), 5),
            "Dimension (5) must be in the range [-2, 2), where 2 is the number of "
            "dimensions in the input. for 'ArgMax'",
        ),
        (lambda: tf.range(1, 5, 0), "Requires delta != 0 for 'range'"),
        (lambda: tf.linspace(0.0, 1.0, 0), "Requires num > 0: 0 for 'LinSpace'"),
        (lambda: tf.reduce_sum([1.0], 0, reduction_indices=0), "Cannot specify both"),
        (
            lambda: tf.matmul([[1]], [[1]], transpose_a=True, adjoint_a=True),
            "Only one of",
        ),
        (lambda: tf.add_n([]), "inputs must be a list of at least one"),
        (
            lambda: tf.scalar_mul([1.0, 2.0], tf.zeros([2])),
            "Only scalar multiply works",
        ),
        (lambda: tf.norm(tf.zeros([2]), "x"), "'ord' must be a supported vector norm"),
    ],
)
def test_wrong_values(make: Any, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        make()
    assert message in str(raised.value)


# --- static shapes ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x, u, n: tf.reduce_sum(x), []),
        (lambda x, u, n: tf.reduce_sum(u), []),
        (lambda x, u, n: tf.reduce_sum(u, 0), None),
        (lambda x, u, n: tf.reduce_sum(n, 1, keepdims=True), [None, 1]),
        (lambda x, u, n: tf.reduce_sum(x, tf.placeholder(tf.int32, [1])), None),
        (lambda x, u, n: tf.argmax(n, -1), [None]),
        (lambda x, u, n: x + n, [2, 3]),
        (lambda x, u, n: x * u, None),
        (lambda x, u, n: tf.matmul(n, n, transpose_b=True), [None, None]),
        (lambda x, u, n: tf.matmul(u, u), None),
        (
            lambda x, u, n: tf.matmul(tf.zeros([5, 1, 2, 3]), tf.zeros([4, 3, 1])),
            [5, 4, 2, 1],
        ),
        (lambda x, u, n: tf.range(2, 9, 3), [3]),
        (lambda x, u, n: tf.range(tf.size(x)), [6]),
        (lambda x, u, n: tf.range(tf.placeholder(tf.int32, [])), [None]),
        (lambda x, u, n: tf.segment_sum(x, [0, 1]), [None, 3]),
        (
            lambda x, u, n: tf.unsorted_segment_sum(n, tf.zeros([2], tf.int32), 4),
            [4, 3],
        ),
        (lambda x, u, n: tf.add_n([x, n]), [2, 3]),
        (lambda x, u, n: tf.accumulate_n([u, n]), [None, 3]),
        (lambda x, u, n: tf.equal(u, x), None),
        (lambda x, u, n: tf.where(x > 0, x, n), [2, 3]),
        (lambda x, u, n: tf.tensordot(n, x, [[1], [1]]), [None, 2]),
        (lambda x, u, n: tf.einsum("ij,kj->ik", x, x), [2, 2]),
        (lambda x, u, n: tf.cast(n, tf.int32), [None, 3]),
        (lambda x, u, n: tf.norm(x, axis=1), [2]),
        (lambda x, u, n: tf.trace(tf.zeros([4, 2, 2])), [4]),
    ],
)
def test_static_shapes(make: Any, expected: Any) -> None:
    x = tf.placeholder(tf.float32, [2, 3])
    u = tf.placeholder(tf.float32)
    n = tf.placeholder(tf.float32, [None, 3])
    shape = make(x, u, n).shape
    assert (None if shape.rank is None else shape.as_list()) == expected


# --- what a builder passes through ---------------------------------------------------


def test_what_is_right_already_is_returned() -> None:
    x, i = tf.constant(1.0), tf.constant(1)
    assert tf.cast(x, tf.float32) is x
    assert tf.round(i) is i
    assert tf.conj(x) is x
    assert tf.real(x) is x
    assert tf.add_n([x]) is x


def test_old_argument_names() -> None:
    x = tf.zeros([2, 3])
    assert tf.reduce_sum(x, reduction_indices=[1], keep_dims=True).shape == [2, 1]
    assert tf.argmax(x, dimension=1).shape == [2]
    assert tf.count_nonzero(input=x).shape == []


def test_indexed_slices_stay_sparse() -> None:
    slices = tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]))
    with tf.Session() as session:
        for result, expected in (
            (tf.scalar_mul(2.0, slices), [[6, 8]]),
            (tf.cast(slices, tf.int32), [[3, 4]]),
            (tf.clip_by_value(slices, 0.0, 3.5), [[3, 3.5]]),
            (tf.clip_by_norm(slices, 2.5), [[1.5, 2]]),
            (tf.clip_by_global_norm([None, slices], 2.5)[0][1], [[1.5, 2]]),
        ):
            assert isinstance(result, tf.IndexedSlices)
            np.testing.assert_allclose(session.run(result.values), expected)


def test_sparse_and_dense() -> None:
    sparse = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [2, 3])
    dense = tf.constant([[1.0, 2, 3], [4, 5, 8]])
    with tf.Session() as session:
        for result, expected in (
            (sparse * dense, [1, 16]),
            (dense * sparse, [1, 16]),
            (sparse / dense, [1, 0.25]),
            (sparse * 2.0, [2, 4]),
            (sparse / tf.constant([1.0, 2, 4]), [1, 0.5]),
        ):
            assert isinstance(result, tf.SparseTensor)
            assert session.run(result.values).tolist() == expected


def test_global_norm_that_is_not_finite_makes_nan() -> None:
    clipped, norm = tf.clip_by_global_norm([tf.constant([np.inf, 1.0])], 1.0)
    with tf.Session() as session:
        assert np.isnan(session.run(clipped[0])).all()
        assert np.isinf(session.run(norm))


def test_saturate_cast() -> None:
    x = tf.constant([-300.0, 3.5, 300.0])
    with tf.Session() as session:
        assert session.run(tf.saturate_cast(x, tf.uint8)).tolist() == [0, 3, 255]
        assert session.run(tf.saturate_cast(x, tf.int8)).tolist() == [-128, 3, 127]


# --- einsum and tensordot against NumPy ---------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_einsum(data: st.DataObject) -> None:
    letters = "abcd"
    sizes = dict(zip(letters, (2, 3, 1, 4), strict=True))
    terms = [
        "".join(data.draw(st.permutations(letters)))[: data.draw(st.integers(1, 3))]
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    used = sorted(set("".join(terms)))
    out = "".join(data.draw(st.permutations(used)))[: data.draw(st.integers(0, 2))]
    equation = ",".join(terms) + "->" + out
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=[sizes[a] for a in term]) for term in terms]
    with tf.Graph().as_default(), tf.Session() as session:
        got = session.run(tf.einsum(equation, *map(tf.constant, arrays)))
    np.testing.assert_allclose(got, np.einsum(equation, *arrays), atol=1e-12)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ij,...jk->...ik", [(5, 2, 3), (5, 3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ii", [(3, 3)]),
        ("i,i,i->", [(3,), (3,), (3,)]),
    ],
)
def test_einsum_forms(equation: str, shapes: Any) -> None:
    arrays = [np.random.default_rng(1).normal(size=s) for s in shapes]
    with tf.Session() as session:
        got = session.run(tf.einsum(equation, *map(tf.constant, arrays)))
    np.testing.assert_allclose(got, np.einsum(equation, *arrays), atol=1e-12)


@pytest.mark.parametrize(
    "equation", ["i-j", "iij->j", "ij,jk->il", "i...j...", "ij,jk"]
)
def test_bad_equations(equation: str) -> None:
    with pytest.raises(ValueError):
        tf.einsum(equation, tf.zeros([2, 3]))


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(
    ("a", "b", "axes"),
    [
        ((2, 3), (3, 4), 1),
        ((2, 3, 4), (3, 4, 5), 2),
        ((2, 3, 4), (4, 5, 2), [[0, 2], [2, 0]]),
        ((2, 3), (4, 5), 0),
        ((2, 3), (3, 4), [1, 0]),
        ((2, 3), (3, 2), [[-1, 0], [0, -1]]),
    ],
)
def test_tensordot(a: Any, b: Any, axes: Any, static: bool) -> None:
    left = np.arange(np.prod(a), dtype=np.float64).reshape(a)
    right = np.arange(np.prod(b), dtype=np.float64).reshape(b)
    x = tf.placeholder(tf.float64, a if static else [None] * len(a))
    y = tf.placeholder(tf.float64, b if static else [None] * len(b))
    with tf.Session() as session:
        got = session.run(tf.tensordot(x, y, axes), {x: left, y: right})
    np.testing.assert_allclose(got, np.tensordot(left, right, axes))


@pytest.mark.parametrize(
    ("ord", "axis"),
    [
        ("euclidean", None),
        (1, 0),
        (np.inf, 1),
        (3, 1),
        ("fro", (0, 1)),
        (1, (0, 1)),
        (np.inf, (-2, -1)),
    ],
)
def test_norm(ord: Any, axis: Any) -> None:
    x = np.array([[1.0, -2, 3], [3, 4, 5]])
    with tf.Session() as session:
        got = session.run(tf.norm(tf.constant(x), ord, axis))
    if axis is None:
        expected = np.sqrt((x * x).sum())
    else:
        expected = np.linalg.norm(x, ord=2 if ord == "euclidean" else ord, axis=axis)
    np.testing.assert_allclose(got, expected)
