"""Structures of fetches: what comes back, and what is refused."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.client.session import session_conversions

Pair = collections.namedtuple("Pair", ["first", "second"])


class Attrs:
    """What the `attrs` package makes of a class, as far as fetches look."""

    __attrs_attrs__ = (collections.namedtuple("Field", "name")("x"),)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attrs) and self.x == other.x

    __hash__ = None  # type: ignore[assignment]


def nodes() -> dict[str, Any]:
    return {
        "a": tf.constant(1.5, name="a"),
        "b": tf.constant([2, 3], name="b"),
        "op": tf.no_op(name="op"),
        "s": tf.constant("text", name="s"),
    }


CASES = [
    ("tensor", lambda n: n["a"], 1.5),
    ("operation", lambda n: n["op"], None),
    ("tensor name", lambda n: "a:0", 1.5),
    ("operation name", lambda n: "op", None),
    ("list", lambda n: [n["a"], n["op"], n["a"]], [1.5, None, 1.5]),
    ("tuple", lambda n: (n["a"], "a:0"), (1.5, 1.5)),
    ("namedtuple", lambda n: Pair(n["a"], n["op"]), Pair(1.5, None)),
    (
        "dict",
        lambda n: {"x": n["a"], "y": {"z": n["op"]}},
        {"x": 1.5, "y": {"z": None}},
    ),
    ("attrs", lambda n: Attrs([n["a"]]), Attrs([1.5])),
    (
        "nested",
        lambda n: [[], (), {}, [Pair((n["a"],), [])]],
        [[], (), {}, [Pair((1.5,), [])]],
    ),
    ("empty list", lambda n: [], []),
    ("empty dict", lambda n: {}, {}),
    ("string", lambda n: n["s"], b"text"),
]


@pytest.mark.parametrize(
    ("title", "fetch", "expected"), CASES, ids=lambda c: str(c)[:20]
)
def test_structure(title: str, fetch: Any, expected: Any) -> None:
    with tf.Session() as sess:
        fetches = fetch(nodes())
        for _ in range(2):  # as compiled, and as found again
            result = sess.run(fetches)
            assert result == expected
            assert type(result) is type(expected) or isinstance(result, np.generic)


def test_a_structure_is_not_taken_for_its_equal() -> None:
    n = nodes()
    with tf.Session() as sess:
        assert type(sess.run((n["a"], n["op"]))) is tuple
        assert type(sess.run(Pair(n["a"], n["op"]))) is Pair
        assert type(sess.run([n["a"], n["op"]])) is list
        assert type(sess.run([Pair(n["a"], n["op"])])[0]) is Pair
        assert type(sess.run([(n["a"], n["op"])])[0]) is tuple


def test_ordered_and_default_dicts_keep_their_type() -> None:
    a = tf.constant(1)
    with tf.Session() as sess:
        ordered = sess.run(collections.OrderedDict([("z", a), ("a", a)]))
        assert isinstance(ordered, collections.OrderedDict)
        assert list(ordered) == ["z", "a"]
        assert isinstance(
            sess.run(collections.defaultdict(list, {"k": a})), collections.defaultdict
        )


def test_types_of_values() -> None:
    fetches = [
        tf.constant(1.0),
        tf.constant(1),
        tf.constant(True),
        tf.constant([1.0]),
        tf.constant(["a"]),
    ]
    with tf.Session() as sess:
        kinds = [type(v) for v in sess.run(fetches)]
    assert kinds == [np.float32, np.int32, np.bool_, np.ndarray, np.ndarray]


def test_sparse_tensors_and_indexed_slices() -> None:
    sparse = tf.SparseTensor([[0, 1]], [5.0], [2, 2])
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([3]))
    dense = tf.IndexedSlices(
        tf.constant([[1.0]]), tf.constant([3]), tf.constant([4, 1])
    )
    with tf.Session() as sess:
        value, part, whole = sess.run([sparse, slices, dense])
    assert isinstance(value, tf.SparseTensorValue)
    assert value.indices.tolist() == [[0, 1]]
    assert value.dense_shape.tolist() == [2, 2]
    assert part.dense_shape is None
    assert part.indices.tolist() == [3]
    assert whole.dense_shape.tolist() == [4, 1]


@pytest.mark.parametrize("resource", [False, True])
def test_variables(resource: bool) -> None:
    v = tf.get_variable("v", initializer=3.0, use_resource=resource)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(v) == 3.0
        assert sess.run([v, v.op])[0] == 3.0


def test_a_fetch_does_not_change_later() -> None:
    x = tf.placeholder(tf.float32, [3])
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0])
    add = tf.assign_add(v, x)
    with tf.Session() as sess:
        sess.run(v.initializer)
        before = sess.run(v)
        after = sess.run(add, {x: [1, 1, 1]})
        sess.run(add, {x: [1, 1, 1]})
    assert before.tolist() == [1, 2, 3]
    assert after.tolist() == [2, 3, 4]


REFUSED = [
    (None, TypeError, "Fetch argument None has invalid type <class 'NoneType'>"),
    (5, TypeError, "must be a string or Tensor. (Can not convert a int into a Tensor"),
    ([None], TypeError, "Fetch argument None has invalid type"),
    ({"k": 1.5}, TypeError, "Fetch argument 1.5 has invalid type <class 'float'>"),
    (np.ones(2), TypeError, "has invalid type <class 'numpy.ndarray'>"),
    ("no:0", ValueError, "Fetch argument 'no:0' cannot be interpreted as a Tensor."),
    ("no", ValueError, "refers to an Operation not in the graph."),
    ("a:1", ValueError, "exists but only has 1 outputs."),
    ("a:x", ValueError, "is not a valid one."),
]


@pytest.mark.parametrize(("fetch", "error", "message"), REFUSED, ids=str)
def test_refused(fetch: Any, error: type[Exception], message: str) -> None:
    tf.constant(1.0, name="a")
    with tf.Session() as sess, pytest.raises(error) as info:
        sess.run(fetch)
    assert message in str(info.value)


def test_refused_from_another_graph_or_unfetchable() -> None:
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    mine = tf.constant(1.0)
    tf.get_default_graph().prevent_fetching(mine.op)
    with tf.Session() as sess:
        with pytest.raises(ValueError, match="is not an element of this graph"):
            sess.run(other)
        with pytest.raises(ValueError, match="marked as not fetchable"):
            sess.run(mine)


def test_registered_conversion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        session_conversions, "_CONVERSIONS", list(session_conversions._CONVERSIONS)
    )

    class Twins:
        def __init__(self, left: Any, right: Any) -> None:
            self.left, self.right = left, right

    session_conversions.register_session_run_conversion_functions(
        Twins,
        lambda t: ([t.left, t.right], lambda values: values[0] + values[1]),
        lambda t, value: [(t.left, value), (t.right, -value)],
        lambda t: [t.left, t.right],
    )
    with pytest.raises(ValueError, match="already been registered"):
        session_conversions.register_session_run_conversion_functions(
            Twins, lambda t: ([], lambda values: None)
        )
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    twins = Twins(x * 2.0, y * 3.0)
    with tf.Session() as sess:
        assert sess.run(twins, {x: 1.0, y: 1.0}) == 5.0
        assert sess.run(x * y, {Twins(x, y): 2.0}) == -4.0


def test_a_reference_is_fetched_after_the_steps_updates() -> None:
    """Also where the update waits for a queue, and the fetch does not."""
    taken = tf.FIFOQueue(4, tf.float32, [[]])
    step = tf.Variable(0, trainable=False)
    # A control edge, for an optimizer's update of the step comes after its gradients.
    with tf.control_dependencies([taken.dequeue()]):
        update = tf.assign_add(step, 1)
    with tf.Session() as sess:
        sess.run([step.initializer, taken.enqueue_many(np.ones(2, np.float32))])
        assert [sess.run([update.op, step])[1] for _ in range(2)] == [1, 2]
