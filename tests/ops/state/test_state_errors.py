"""What goes wrong with variables, queues and arrays: class and words of the errors.

The expectations are TensorFlow 1.15's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

INVALID = tf.errors.InvalidArgumentError
OUT_OF_RANGE = tf.errors.OutOfRangeError
ANY = np.array([1.0, 2.0, 3.0], np.float32)

Case = tuple[Callable[[Any], Any], type[Exception], str]


class _Things:
    """Initialized variables and placeholders of one graph."""

    def __init__(self) -> None:
        self.ref = tf.Variable([1.0, 2.0], name="ref")
        self.resource = tf.Variable([1.0, 2.0], use_resource=True, name="res")
        self.count = tf.Variable(2, name="count")
        self.value = tf.placeholder(tf.float32)
        self.index = tf.placeholder(tf.int32)
        self.array = lambda **kw: tf.TensorArray(tf.float32, 3, **kw)


RUN_TIME: dict[str, Case] = {
    "assign": (
        lambda t: t.ref.assign(t.value),
        INVALID,
        "Assign requires shapes of both tensors to match. lhs shape= [2] rhs shape= "
        "[3]",
    ),
    "assign_add": (
        lambda t: t.ref.assign_add(t.value),
        INVALID,
        "Parameters and update must be the same size",
    ),
    "resource assign_add": (
        lambda t: t.resource.assign_add(t.value),
        INVALID,
        "Cannot update variable with shape [2] using a Tensor with shape [3], shapes "
        "must be equal.",
    ),
    "scatter": (
        lambda t: tf.scatter_add(t.ref, t.index, 1.0),
        INVALID,
        "indices[1] = 7 is not in [0, 2)",
    ),
    "resource scatter": (
        lambda t: tf.scatter_add(t.resource, t.index, 1.0),
        INVALID,
        "indices[1] = 7 is not in [0, 2)",
    ),
    "scatter_nd": (
        lambda t: tf.scatter_nd_add(t.ref, t.index[:, None], [1.0, 1.0]),
        INVALID,
        "indices[1] = [7] does not index into shape [2]",
    ),
    "gather": (
        lambda t: t.resource.sparse_read(t.index),
        INVALID,
        "indices[1] = 7 is not in [0, 2)",
    ),
    "gather_nd": (
        lambda t: t.resource.gather_nd(t.index[:, None]),
        INVALID,
        "indices[1] = [7] does not index into param shape [2]",
    ),
    "count": (lambda t: t.count.count_up_to(2), OUT_OF_RANGE, "Reached limit of 2"),
    "array index": (
        lambda t: t.array().write(5, 1.0).flow,
        INVALID,
        "Tried to write to index 5 but array is not resizeable and size is: 3",
    ),
    "array written": (
        lambda t: t.array().write(0, 1.0).write(0, 2.0).flow,
        INVALID,
        "Could not write to TensorArray index 0 because it has already been written "
        "to.",
    ),
    "array unwritten": (
        lambda t: t.array().read(0),
        INVALID,
        "the element shape is not fully defined: <unknown>",
    ),
    "array shape": (
        lambda t: t.array(element_shape=[2]).write(0, t.value).flow,
        INVALID,
        "value shape is [3] which is incompatible with the TensorArray's inferred "
        "element shape: [2]",
    ),
    "array shapes": (
        lambda t: (
            t.array(infer_shape=False).write(0, t.value).write(1, [1.0]).gather([0, 1])
        ),
        INVALID,
        "Index 0 has shape: [3] but index 1 has shape: [1]",
    ),
    "array empty": (
        lambda t: tf.TensorArray(tf.float32, 0).stack(),
        tf.errors.UnimplementedError,
        "TensorArray has size zero, but element shape <unknown> is not fully defined",
    ),
    "array negative": (
        lambda t: tf.TensorArray(tf.float32, -1).flow,
        INVALID,
        "Size should be >= 0.",
    ),
    "array split": (
        lambda t: t.array().split(t.value, [1, 1, 2]).flow,
        INVALID,
        "sum of lengths is 4 and value's shape is: [3]",
    ),
    "stack": (
        lambda t: tf.raw_ops.StackPopV2(
            handle=tf.raw_ops.StackV2(max_size=1, elem_type=tf.float32),
            elem_type=tf.float32,
        ),
        INVALID,
        "is empty when calling Pop().",
    ),
    "queue shape": (
        lambda t: tf.FIFOQueue(2, tf.float32, [[2]]).enqueue(t.value),
        INVALID,
        "Shape mismatch in tuple component 0. Expected [2], got [3]",
    ),
    "queue shapes": (
        lambda t: tf.FIFOQueue(2, tf.float32).dequeue_many(1),
        INVALID,
        "FIFOQueue's DequeueMany and DequeueUpTo require the components to have "
        "specified shapes.",
    ),
    "py_func value": (
        lambda t: tf.py_func(lambda x: int("x"), [t.value], tf.float32),
        INVALID,
        "ValueError: invalid literal for int()",
    ),
    "py_func other": (
        lambda t: tf.py_func(lambda x: {}["x"], [t.value], tf.float32),
        tf.errors.UnknownError,
        "KeyError: 'x'",
    ),
    "py_func dtype": (
        lambda t: tf.py_func(lambda x: 2.0, [t.value], tf.float32),
        INVALID,
        "is double, but expects float",
    ),
    "py_func count": (
        lambda t: tf.py_func(lambda x: [x], [t.value], [tf.float32] * 2),
        INVALID,
        "returns 1 values, but expects to see 2 values.",
    ),
    "summary": (
        lambda t: tf.raw_ops.ScalarSummary(tags=["a", "b"], values=t.value),
        INVALID,
        "tags and values not the same shape: [2] != [3]",
    ),
}


@pytest.mark.parametrize("name", RUN_TIME)
def test_error_of_a_step(name: str) -> None:
    build, kind, text = RUN_TIME[name]
    with tf.Graph().as_default(), tf.Session() as session:
        things = _Things()
        fetch = build(things)
        fetch = getattr(fetch, "op", fetch)
        session.run(tf.global_variables_initializer())
        feeds = {things.value: ANY, things.index: [0, 7]}
        with pytest.raises(kind) as caught:
            session.run(fetch, feeds)
        assert type(caught.value) is kind
        assert text in caught.value.message
        session.run(things.ref)  # the session goes on


UNINITIALIZED: dict[str, Case] = {
    "read": (
        lambda t: t.ref + 1.0,
        tf.errors.FailedPreconditionError,
        "Attempting to use uninitialized value ref",
    ),
    "assign_add": (
        lambda t: t.ref.assign_add([1.0, 1.0]),
        tf.errors.FailedPreconditionError,
        "Attempting to use uninitialized value ref",
    ),
    "resource read": (
        lambda t: t.resource + 1.0,
        tf.errors.FailedPreconditionError,
        "Error while reading resource variable res from Container: localhost. This "
        "could mean that the variable was uninitialized. Not found: Resource "
        "localhost/res/",
    ),
    "resource assign_add": (
        lambda t: t.resource.assign_add([1.0, 1.0]),
        tf.errors.NotFoundError,
        "Resource localhost/res/",
    ),
    "resource gather": (
        lambda t: t.resource.sparse_read([0]),
        tf.errors.NotFoundError,
        "Resource localhost/res/",
    ),
}


@pytest.mark.parametrize("name", UNINITIALIZED)
def test_error_of_an_uninitialized_variable(name: str) -> None:
    build, kind, text = UNINITIALIZED[name]
    with tf.Graph().as_default(), tf.Session() as session:
        fetch = build(_Things())
        with pytest.raises(kind) as caught:
            session.run(getattr(fetch, "op", fetch))
        assert text in caught.value.message


def test_what_runs_after_an_assignment_sees_it() -> None:
    for shape in ((), (3,), (40,)):
        with tf.Graph().as_default(), tf.Session() as session:
            variable = tf.Variable(np.zeros(shape, np.float32))
            one = np.ones(shape, np.float32)
            with tf.control_dependencies([variable.assign_add(one)]):
                seen = [tf.identity(variable), variable + 1.0]
            session.run(variable.initializer)
            first, second = session.run(seen)
            np.testing.assert_array_equal(first, one)
            np.testing.assert_array_equal(second, one + 1.0)


def test_py_func_arguments_are_numpys() -> None:
    seen: list[Any] = []

    def note(*arguments: Any) -> np.float32:
        seen.extend(arguments)
        return np.float32(7)

    with tf.Graph().as_default(), tf.Session() as session:
        result = tf.py_func(
            note, [tf.constant(1.0), "text", [1, 2], ["a", "b"], True], tf.float32
        )
        assert session.run(result) == 7.0
    number, text, vector, texts, truth = seen
    assert type(number) is np.float32
    assert text == b"text"
    assert vector.tolist() == [1, 2]
    assert texts.tolist() == [b"a", b"b"]
    assert type(truth) is np.bool_
