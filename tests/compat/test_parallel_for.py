"""`pfor`, jacobians, and what ragged modules have beside the public API."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.compat.op_modules import parallel_for, ragged_functions
from tensorloom.framework.types.composite_tensor import CompositeTensor


def test_results_are_stacked_in_their_structure() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.0, 3.0])

        def body(i: Any) -> Any:
            row = tf.gather(x, i)
            return {"double": row * 2, "nothing": None, "op": row.op, "list": [row, i]}

        found = parallel_for.pfor(body, 3)
        assert found["nothing"] is found["op"] is None
        looped = parallel_for.for_loop(lambda i: i * i, tf.int32, tf.constant(4))
        double, items, squares = session.run([found["double"], found["list"], looped])
    assert double.tolist() == [2.0, 4.0, 6.0]
    assert [item.tolist() for item in items] == [[1.0, 2.0, 3.0], [0, 1, 2]]
    assert squares.tolist() == [0, 1, 4, 9]


def test_jacobians() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        y = x * x
        whole = parallel_for.jacobian(y, x)
        by_row = parallel_for.batch_jacobian(y, x)
        none = parallel_for.jacobian(y, [tf.constant(1.0)])
        assert whole.shape.as_list() == [2, 2, 2, 2]
        assert by_row.shape.as_list() == [2, 2, 2]
        a, b = session.run([whole, by_row])
        assert parallel_for.batch_jacobian(y, tf.ones([2, 2])) is None
        with pytest.raises(ValueError, match="Need first dimension of output shape"):
            parallel_for.batch_jacobian(y, tf.ones([3, 2]))
    assert none == [None]
    expected = np.zeros([2, 2, 2, 2])
    for i, j in np.ndindex(2, 2):
        expected[i, j, i, j] = 2 * (2 * i + j + 1)
    np.testing.assert_allclose(a, expected)
    np.testing.assert_allclose(b, [expected[i, :, i] for i in range(2)])


def _scan(x: Any) -> Any:
    return tf.scan(lambda total, value: total * value, x)


def _rnn(x: Any) -> Any:
    cell = tf.nn.rnn_cell.BasicRNNCell(1)
    outputs, _ = tf.nn.dynamic_rnn(cell, x[None, :, None], dtype=tf.float32)
    return tf.reshape(outputs, [-1])


def _written(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=3)

    def body(j: Any, array: Any) -> Any:
        return j + 1, array.write(j, x[0] * tf.cast(j, tf.float32))

    return tf.while_loop(lambda j, _: j < 3, body, (0, array))[1].stack()


@pytest.mark.parametrize("function", [_scan, _rnn, _written])
@pytest.mark.parametrize("is_v2", [False, True])
@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
def test_gradients_of_a_loop_outside_are_each_iteration_s_own(
    function: Any, is_v2: bool
) -> None:
    """Arrays of gradients would add those of all iterations up."""
    with tf.Graph().as_default(), tf.Session() as session:
        if is_v2:
            tf.enable_control_flow_v2()
        try:
            x = tf.constant([1.0, 2.0, 3.0])
            y = function(x)
            rows = [tf.gradients(y[i], x)[0] for i in range(3)]
            whole = parallel_for.jacobian(y, x)
            mapped = tf.vectorized_map(
                lambda i: tf.gradients(tf.gather(y, i), x)[0], tf.range(3)
            )
            session.run(tf.global_variables_initializer())
            found, again, expected = session.run([whole, mapped, rows])
        finally:
            tf.disable_control_flow_v2()
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(again, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "default", "dense"),
    [
        (None, None, [[1, 2], [3, 0]]),
        ([None, 3], -1, [[1, 2, -1], [3, -1, -1]]),
        ([1, 1], None, [[1]]),
    ],
)
def test_a_ragged_tensor_cut_and_padded(shape: Any, default: Any, dense: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ragged = tf.ragged.constant([[1, 2], [3]])
        found = ragged_functions.ragged_to_dense(ragged, default, shape)
        assert session.run(found).tolist() == dense


def test_conversions_leave_what_is_converted() -> None:
    with tf.Graph().as_default():
        ragged = tf.ragged.constant([[1, 2], [3]])
        dense = tf.constant([[1, 2]])
        assert ragged_functions.from_tensor(ragged) is ragged
        assert ragged_functions.to_tensor(dense) is dense
        made = ragged_functions.from_tensor(dense, lengths=[1])
        back = ragged_functions.to_tensor(made, 7)
        with tf.Session() as session:
            assert session.run(back).tolist() == [[1]]


class _PairSpec(tf.TypeSpec):  # type: ignore[misc]
    value_type = property(lambda self: _Pair)
    _component_specs = property(lambda self: (None, None))

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    def _to_components(self, value: Any) -> Any:
        return value.components

    def _from_components(self, components: Any) -> Any:
        return _Pair(components)


class _Pair(CompositeTensor):
    def __init__(self, components: Any) -> None:
        self.components = components

    @property
    def _type_spec(self) -> Any:
        return _PairSpec()


@pytest.mark.parametrize("parts", [(1, 2), {"a": 1, "b": 2}])
def test_a_composite_tensor_of_a_program(parts: Any) -> None:
    pair = _Pair(parts)
    assert tf.nest.flatten([pair], expand_composites=True) == [1, 2]
    assert tf.nest.flatten(pair) == [pair]
    made = tf.nest.map_structure(lambda x: x * 10, pair, expand_composites=True)
    assert type(made) is _Pair
    assert tf.nest.flatten(made.components) == [10, 20]


def test_a_reference_leads_to_its_tensor() -> None:
    x, y, v = tf.constant(1), tf.constant(1), tf.Variable(1)
    assert x.experimental_ref() == x.experimental_ref() != y.experimental_ref()
    assert len({t.experimental_ref() for t in (x, x, y, v)}) == 3
    assert x.experimental_ref().deref() is x
    assert v.experimental_ref().deref() is v


def test_init_scope_leaves_a_graph_that_is_said_to_build_a_function() -> None:
    outer, inner = tf.Graph(), tf.Graph()
    inner._building_function = True
    assert inner._building_function
    assert not inner.building_function
    with outer.as_default(), inner.as_default(), tf.init_scope():
        assert tf.constant(1).graph is outer
    with inner.as_default(), tf.init_scope():
        assert tf.constant(1).graph not in (inner, outer)
