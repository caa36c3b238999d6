"""What was read, fetched or fed never changes when a variable is updated."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tensorloom as tf
from tensorloom.framework.runtime.resource import LegacyVariable
from tensorloom.kernels.torch.state.variable_value import exclusive, held_array

SMALL, LARGE = (3,), (40, 5)


def _variable(shape: tuple[int, ...], use_resource: bool, value: float = 1.0):
    initial = np.full(shape, value, np.float32)
    return tf.Variable(initial, use_resource=use_resource, name="v")


@pytest.fixture(params=[SMALL, LARGE], ids=["host", "tensor"])
def shape(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def use_resource(request):
    return request.param


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_fetched_value_stays(shape, use_resource):
    variable = _variable(shape, use_resource)
    update = variable.assign_add(np.ones(shape, np.float32)).op
    with tf.Session() as session:
        session.run(variable.initializer)
        before = session.run(variable)
        session.run(update)
        after = session.run(variable)
        session.run(update)
    np.testing.assert_array_equal(before, np.ones(shape))
    np.testing.assert_array_equal(after, np.full(shape, 2.0))


def test_value_read_before_an_update_in_the_same_step(shape, use_resource):
    variable = _variable(shape, use_resource)
    read = tf.identity(variable) if use_resource else variable + 0.0
    with tf.control_dependencies([read]):
        update = variable.assign_add(np.ones(shape, np.float32))
    with tf.Session() as session:
        session.run(variable.initializer)
        old, new = session.run([read, update])
    np.testing.assert_array_equal(old, np.ones(shape))
    np.testing.assert_array_equal(new, np.full(shape, 2.0))


def test_fed_array_is_not_changed(shape, use_resource):
    variable = _variable(shape, use_resource)
    value = tf.placeholder(tf.float32, shape)
    assign = variable.assign(value).op
    update = variable.assign_add(np.ones(shape, np.float32)).op
    fed = np.full(shape, 5.0, np.float32)
    with tf.Session() as session:
        session.run(assign, {value: fed})
        session.run(update)
        result = session.run(variable)
    np.testing.assert_array_equal(fed, np.full(shape, 5.0))
    np.testing.assert_array_equal(result, np.full(shape, 6.0))


def test_initial_constant_is_not_changed(shape, use_resource):
    variable = _variable(shape, use_resource)
    update = variable.assign_add(np.ones(shape, np.float32)).op
    with tf.Session() as session:
        for _ in range(2):
            session.run(variable.initializer)
            session.run(update)
            result = session.run(variable)
    np.testing.assert_array_equal(result, np.full(shape, 2.0))


def test_variables_assigned_from_each_other_are_apart(shape, use_resource):
    first = _variable(shape, use_resource)
    second = tf.Variable(np.zeros(shape, np.float32), use_resource=use_resource)
    copy = second.assign(first.value()).op
    update = first.assign_add(np.ones(shape, np.float32)).op
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(copy)
        session.run(update)
        np.testing.assert_array_equal(session.run(first), np.full(shape, 2.0))
        np.testing.assert_array_equal(session.run(second), np.ones(shape))


def test_product_with_ones_is_of_what_was_there_when_it_was_computed(use_resource):
    """Its reader does not take the column, which is a reference, in its place."""
    variable = _variable((2, 1), use_resource)
    product = tf.matmul(variable, tf.ones((1, 3)))
    with tf.control_dependencies([product]):
        update = variable.assign_add(np.ones((2, 1), np.float32)).op
    x = tf.placeholder(tf.float32, [2, 3])
    with tf.control_dependencies([update]):
        total = x + product
    with tf.Session() as session:
        session.run(variable.initializer)
        found = session.run(total, {x: np.zeros((2, 3))})
    np.testing.assert_array_equal(found, np.ones((2, 3)))


def test_view_of_a_variable_stays():
    variable = _variable(LARGE, use_resource=True)
    view = tf.transpose(variable.read_value())
    with tf.control_dependencies([view]):
        update = variable.assign_add(np.ones(LARGE, np.float32), read_value=False)
    with tf.Session() as session:
        session.run(variable.initializer)
        seen, _ = session.run([view, update])
    np.testing.assert_array_equal(seen, np.ones(LARGE[::-1]))


def test_update_alone_is_in_place():
    ones = np.ones((100, 50), np.float32)  # more than NumPy updates
    variable = tf.Variable(ones, name="updated_in_place")
    update = variable.assign_add(ones).op
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(update)
        held = _held("updated_in_place")
        address = held.value.data_ptr()
        session.run(update)
        assert held.value.data_ptr() == address


def _held(name):
    """The variable's holder, wherever the session keeps it."""
    import gc

    every = gc.get_objects()
    (found,) = [o for o in every if type(o) is LegacyVariable and o.name == name]
    return found


WIDE = (200, 8)


def _own_variable(dtype=torch.float32):
    variable = LegacyVariable("", "v", tf.float32, tf.TensorShape(WIDE))
    variable.value = torch.ones(WIDE, dtype=dtype)
    return variable


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_readers_share_an_array_that_does_not_move_the_variable(dtype):
    variable = _own_variable(dtype)
    array = held_array(variable.value)
    assert held_array(variable.value) is array
    address = variable.value.data_ptr()
    assert array.ctypes.data == address
    del array
    for _ in range(2):
        variable.value = exclusive(variable)
        assert variable.value.data_ptr() == address


@pytest.mark.parametrize(
    "hold",
    [
        lambda tensor: held_array(tensor),
        lambda tensor: held_array(tensor)[3:].T,
        lambda tensor: memoryview(held_array(tensor)),
        lambda tensor: torch.from_numpy(held_array(tensor)),
        lambda tensor: tensor.numpy(),
        lambda tensor: tensor[2:],
    ],
)
@pytest.mark.parametrize("is_read", [True, False])
def test_who_holds_the_memory_keeps_its_values(hold, is_read):
    variable = _own_variable()
    if is_read:
        held_array(variable.value)
    held = hold(variable.value)
    changed = exclusive(variable)
    changed.zero_()
    variable.value = changed
    assert np.all(held.tolist())
    # The new tensor has an array of its own.
    assert not held_array(variable.value).any()


def test_rank_0_and_arrays_are_not_kept():
    tensor = torch.tensor(1.0)
    assert held_array(tensor) == 1
    tensor.zero_()
    assert held_array(tensor) == 0
    array = np.ones(3)
    assert held_array(array) is array


@pytest.mark.parametrize("count", [3, 150], ids=["few", "loop"])
def test_scatter_of_rows_that_were_read_in_place(count):
    variable = tf.Variable(np.ones(WIDE, np.float32), name=f"scattered_{count}")
    indices = np.arange(count, dtype=np.int32)
    rows = tf.gather(variable._variable, indices)
    with tf.control_dependencies([rows]):
        update = tf.scatter_sub(variable, indices, np.ones((count, 8), np.float32)).op
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(update)
        held = _held(f"scattered_{count}")
        address = held.value.data_ptr()
        seen, _ = session.run([rows, update])
        assert held.value.data_ptr() == address
        fetched = session.run(variable)
        session.run(update)
    np.testing.assert_array_equal(seen, np.zeros((count, 8)))
    np.testing.assert_array_equal(fetched[:count], np.full((count, 8), -1))
    np.testing.assert_array_equal(fetched[count:], np.ones((200 - count, 8)))


def test_optimizer_updates_leave_fetches_alone():
    with tf.variable_scope("model"):
        weights = tf.get_variable("w", [30, 4], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.square(weights))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(weights)
        session.run(train)
        after = session.run(weights)
    np.testing.assert_array_equal(before, np.ones((30, 4)))
    np.testing.assert_allclose(after, np.full((30, 4), 0.9), rtol=1e-5)


def test_what_is_added_may_lie_in_any_order(use_resource):
    turned = np.full((1, 3), 2, np.float32)[::-1]
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable(
            "v", initializer=np.ones((1, 3), np.float32), use_resource=use_resource
        )
        added = tf.placeholder(tf.float32, [1, 3])
        steps = [tf.assign_add(variable, added), tf.scatter_add(variable, [0], added)]
        session.run(variable.initializer)
        for step in steps:
            session.run(step, {added: turned})
        assert session.run(variable).tolist() == [[5.0, 5.0, 5.0]]
