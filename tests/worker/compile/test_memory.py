"""Which memory a node's values live in, read off the source of its piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.worker.compile.piece import Piece
from tests.worker.small_graphs import arg, graph, node, register, retval

F = np.float32
SQUARES = {"small": 60, "medium": 128, "large": 200}


def _source(op: str, side: int, inputs: int, **attrs: Any) -> str:
    """The source of a piece with one node over squares that were fed."""
    shape = (side, side)
    feeds = [arg(f"x{i}", i, shape) for i in range(inputs)]
    names = [feed.name for feed in feeds]
    y = node("y", op, names, shape=shape, **attrs)
    step = register(graph(*feeds, y, retval("y", 0)))
    step.run([np.ones(shape, F)] * inputs)
    return step.source


@pytest.mark.parametrize(
    ("op", "inputs", "sizes_on_host"),
    [
        ("AddV2", 2, ["small", "medium"]),
        ("Exp", 1, ["small", "medium"]),
        ("Softmax", 1, ["small"]),  # several passes in NumPy
        ("Erf", 1, ["small"]),  # one element at a time there
    ],
)
def test_how_large_depends_on_the_op(
    op: str, inputs: int, sizes_on_host: list[str]
) -> None:
    found = [
        name
        for name, side in SQUARES.items()
        if "from_host" not in _source(op, side, inputs)
    ]
    assert found == sizes_on_host


@pytest.mark.parametrize(("side", "is_on_host"), [(60, True), (63, True), (128, False)])
def test_products_of_much_work_are_torch_s(side: int, is_on_host: bool) -> None:
    source = _source("MatMul", side, 2, transpose_a=False, transpose_b=True)
    assert ("from_host" not in source) == is_on_host


def test_work_counts_and_not_the_sizes_alone() -> None:
    attrs: dict[str, Any] = {"transpose_a": False, "transpose_b": False}
    step = register(
        graph(
            arg("a", 0, (128, 128)),
            arg("b", 1, (128, 1)),
            node("y", "MatMul", ["a", "b"], shape=(128, 1), **attrs),
            retval("y", 0),
        )
    )
    assert "from_host" not in step.source
    (y,) = step.run([np.full((128, 128), 2, F), np.ones((128, 1), F)])
    np.testing.assert_array_equal(y, np.full((128, 1), 256))


@pytest.mark.parametrize(
    ("dtype", "steps", "is_on_host"),
    [
        ("float32", [b"BiasAdd"], True),
        ("float32", [b"BiasAdd", b"Relu"], True),
        ("float32", [b"BiasAdd", b"Elu"], False),  # many passes in NumPy
        ("float16", [b"BiasAdd"], False),  # no product of a library in NumPy
    ],
)
def test_products_with_what_follows(
    dtype: str, steps: list[bytes], is_on_host: bool
) -> None:
    a, b, bias = (128, 128), (128, 64), (64,)
    kind = tf.as_dtype(dtype)
    attrs: dict[str, Any] = {"transpose_a": False, "transpose_b": False}
    attrs |= {"fused_ops": steps, "num_args": 1, "epsilon": 0.0, "T": kind}
    step = register(
        graph(
            arg("a", 0, a, dtype=kind),
            arg("b", 1, b, dtype=kind),
            arg("bias", 2, bias, dtype=kind),
            node(
                "y",
                "_FusedMatMul",
                ["a", "b", "bias"],
                shape=(128, 64),
                dtype=kind,
                **attrs,
            ),
            retval("y", 0),
        )
    )
    assert ("from_host" not in step.source) == is_on_host
    ones = [np.ones(shape, kind.as_numpy_dtype) for shape in (a, b, bias)]
    np.testing.assert_array_equal(step.run(ones)[0], np.full((128, 64), 129))


def test_what_was_made_of_host_memory_comes_back() -> None:
    shape = (100, 100)
    step = register(
        graph(
            arg("x", 0, shape),
            node("p", "Softmax", ["x"], shape=shape),
            node("y", "AddV2", ["p", "x"], shape=shape),
            retval("y", 0),
        )
    )
    assert "to_host(" in step.source
    x = np.zeros(shape, F)
    np.testing.assert_allclose(step.run([x])[0], np.full(shape, 0.01), rtol=1e-5)
    np.testing.assert_array_equal(x, 0)  # the feed is the caller's


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Piece]:
    """The pieces that are made from here on, in their order."""
    pieces: list[Piece] = []
    start = Piece.__init__

    def note(self: Piece, *args: Any, **options: Any) -> None:
        pieces.append(self)
        start(self, *args, **options)

    monkeypatch.setattr(Piece, "__init__", note)
    return pieces


@pytest.mark.parametrize(
    ("reduce", "rows", "is_on_host"),
    [
        (tf.argmax, 200, True),
        (tf.argmax, 2000, False),  # data, rather than what steers a step
        (tf.reduce_max, 200, False),
    ],
)
def test_few_integers_of_tensors_go_on_in_host_memory(
    made: list[Piece], reduce: Any, rows: int, is_on_host: bool
) -> None:
    values = np.random.RandomState(0).randn(rows, 200).astype(F)
    with tf.Graph().as_default(), tf.Session() as sess:
        found = reduce(tf.get_variable("v", initializer=values), 1)
        twice = found + found
        sess.run(tf.global_variables_initializer())
        result = sess.run(twice)
    # A sum in a tensor's memory would be fetched from there.
    assert ("fetch_" not in made[-1].source) == is_on_host
    expected = values.max(1) if reduce is tf.reduce_max else values.argmax(1)
    np.testing.assert_array_equal(result, 2 * expected)


TYPES = [
    "float32",
    "float16",
    "bfloat16",
    "int8",
    "uint16",
    "int64",
    "complex64",
    "bool",
]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("index_type", ["int32", "int64"])
@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_of_a_large_variable(
    dtype: str, index_type: str, use_resource: bool
) -> None:
    values = np.arange(3000 * 20).reshape(3000, 20) % 99
    values = values.astype(tf.as_dtype(dtype).as_numpy_dtype)
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.Variable(values, use_resource=use_resource)
        ids = tf.placeholder(index_type, [3])
        rows = tf.gather(variable, ids)
        columns = tf.gather(variable, ids, axis=1)
        sess.run(variable.initializer)
        found = sess.run([rows, columns], {ids: [7, 2, 7]})
        np.testing.assert_array_equal(found[0], values[[7, 2, 7]])
        np.testing.assert_array_equal(found[1], values[:, [7, 2, 7]])
        for bad in (-1, 3000):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\]"):
                sess.run(rows, {ids: [0, bad, 1]})


@pytest.mark.parametrize("use_resource", [False, True])
def test_gathered_rows_do_not_change_with_the_variable(use_resource: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.Variable(tf.zeros([1000, 20]), use_resource=use_resource)
        ids = tf.placeholder(tf.int64, [2])
        rows = tf.gather(variable, ids)
        with tf.control_dependencies([rows]):
            update = tf.scatter_add(variable, ids, tf.ones([2, 20]))
        sess.run(variable.initializer)
        before, _ = sess.run([rows, update.op], {ids: [3, 4]})
        after = sess.run(rows, {ids: [3, 4]})
    assert before.sum() == 0
    assert after.sum() == 40


@pytest.mark.parametrize(
    ("dtype", "side", "is_on_host"),
    [("float32", 60, True), ("float32", 70, False), ("string", 70, True)],
)
def test_element_of_a_list_is_where_its_size_belongs(
    made: list[Piece], dtype: str, side: int, is_on_host: bool
) -> None:
    kind, shape = tf.as_dtype(dtype), [side, side]
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(kind, shape)
        empty = tf.raw_ops.EmptyTensorList(
            element_shape=shape, max_num_elements=-1, element_dtype=kind
        )
        full = tf.raw_ops.TensorListPushBack(input_handle=empty, tensor=x)
        _, popped = tf.raw_ops.TensorListPopBack(
            input_handle=full, element_shape=shape, element_dtype=kind
        )
        fed = np.full(shape, b"2").astype(kind.as_numpy_dtype)
        np.testing.assert_array_equal(sess.run(popped, {x: fed}), fed)
    # What was popped as a tensor is made an array for the fetch.
    assert ("to_host" not in made[-1].source) == is_on_host


def test_strings_beside_numbers_stay_on_the_host() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        words = tf.placeholder(tf.string, [2, 3])
        full = tf.raw_ops.TensorListFromTensor(tensor=words, element_shape=[3])
        joined, lengths = tf.raw_ops.TensorListConcatV2(
            input_handle=full,
            element_shape=[3],
            leading_dims=tf.zeros([0], tf.int64),
            element_dtype=tf.string,
        )
        fed = np.array([[b"a", b"b", b"c"], [b"d", b"e", b"f"]], object)
        found = sess.run([joined, lengths], {words: fed})
    assert found[0].tolist() == [b"a", b"b", b"c", b"d", b"e", b"f"]
    assert found[1].tolist() == [3, 3]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(("columns", "is_on_host"), [(64, True), (5000, False)])
def test_small_variables_are_read_by_host_kernels(
    made: list[Piece], use_resource: bool, columns: int, is_on_host: bool
) -> None:
    """What they compute with is as it was, whatever happens to the variable."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 8])
        w = tf.get_variable(
            "w",
            [8, columns],
            initializer=tf.ones_initializer(),
            use_resource=use_resource,
        )
        update = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(w))
        value, products = w.read_value(), tf.matmul(x, w)
        sess.run(tf.global_variables_initializer())
        fed = {x: np.ones((2, 8), F)}
        before, kept = sess.run([products, value], fed)
        assert ("from_host" not in made[-1].source) == is_on_host
        sess.run(update)
        after = sess.run(products, fed)
    np.testing.assert_array_equal(before, np.full((2, columns), 8, F))
    np.testing.assert_array_equal(kept, np.ones((8, columns), F))
    np.testing.assert_array_equal(after, np.zeros((2, columns), F))
