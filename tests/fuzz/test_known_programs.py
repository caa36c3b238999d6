"""Programs whose results passes have changed once."""

from __future__ import annotations

import pytest

import tensorloom as tf
from tests.fuzz.modes import MODES, Mode
from tests.peer import runner

_WRITES_IN_ORDER = """
v = tf.get_variable("v", initializer=3., use_resource={resource})
x = tf.placeholder(tf.float32, [None, 3])
def write(controls):
    new = tf.reduce_mean(x) * tf.constant(.5) + 1.
    with tf.control_dependencies(controls):
        return v.assign_add(tf.zeros(v.shape.as_list()) + new).op
second = write([write([])])
with tf.Session(TARGET, config=CONFIG) as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(second, {{x: [[1., 2., 3.]]}})
    result = float(sess.run(v))
"""
_SWAP = """
a = tf.Variable(1., use_resource={resource})
b = tf.Variable(2., use_resource={resource})
old = tf.identity(a + 0.)
with tf.control_dependencies([old]):
    first = a.assign(b)
with tf.control_dependencies([first]):
    swap = b.assign(old)
with tf.Session(TARGET, config=CONFIG) as sess:
    sess.run(tf.global_variables_initializer())
    sess.run([first.op, swap.op])
    result = [float(value) for value in sess.run([a, b])]
"""
# An identity of a reference is the variable, however many there are.
_LATE_IDENTITY = """
a = tf.Variable([1., 2.], use_resource=False)
old = tf.identity(tf.identity(a))
with tf.control_dependencies([old]):
    first = a.assign([5., 6.])
with tf.control_dependencies([first]):
    late = old * 1.
with tf.Session(TARGET, config=CONFIG) as sess:
    sess.run(tf.global_variables_initializer())
    result = sess.run(late).tolist()
"""


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize(
    ("source", "expected"), [(_WRITES_IN_ORDER, 7.0), (_SWAP, ("list", (2.0, 1.0)))]
)
def test_results(source: str, expected: object, resource: bool, mode: Mode) -> None:
    with mode.context():
        found = runner.execute(tf, mode.head + source.format(resource=resource))
    assert found["error"] is None, found["error"]
    assert found["result"] == expected


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_identities_of_references_are_read_late(mode: Mode) -> None:
    with mode.context():
        found = runner.execute(tf, mode.head + _LATE_IDENTITY)
    assert found["error"] is None, found["error"]
    assert found["result"] == ("list", (5.0, 6.0))
