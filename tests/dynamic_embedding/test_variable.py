"""Embedding variables in graphs: look-ups, optimizers, shards, checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
import tensorloom.dynamic_embedding as de

KEYS = 12
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adagrad_da": lambda: tf.train.AdagradDAOptimizer(
        0.1, tf.train.get_or_create_global_step()
    ),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "ftrl_v2": lambda: tf.train.FtrlOptimizer(
        0.1, l2_shrinkage_regularization_strength=0.1
    ),
    "rms_prop": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    "centered": lambda: tf.train.RMSPropOptimizer(0.1, centered=True),
    "proximal_sgd": lambda: tf.train.ProximalGradientDescentOptimizer(
        0.1, l2_regularization_strength=0.1
    ),
    "proximal_adagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1),
}
adam = tf.train.AdamOptimizer


def shards(count: int) -> Any:
    return tf.fixed_size_partitioner(count)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_does_to_rows_what_it_does_to_a_dense_variable(name: str) -> None:
    table = de.get_variable("table", dim=3, partitioner=shards(2))
    dense = tf.get_variable("dense", [KEYS, 3], use_resource=True)
    ids = tf.placeholder(tf.int64, [None])
    weights = tf.constant([[1.0], [2.0], [-1.0]])
    loss = sum(
        tf.reduce_sum(tf.square(tf.matmul(rows, weights)))
        for rows in (
            de.embedding_lookup(table, ids),
            tf.nn.embedding_lookup(dense, ids),
        )
    )
    train = OPTIMIZERS[name]().minimize(loss)
    everything = table.lookup(np.arange(KEYS))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(dense.assign(everything))
        for step in range(4):
            sess.run(train, {ids: [step, 5, 5, 2 * step, 11]})
        rows, expected, size = sess.run([everything, dense, table.size()])
    np.testing.assert_allclose(rows, expected, rtol=1e-5, atol=1e-7)
    assert size == 8


def test_adam_moves_the_rows_of_the_keys_alone() -> None:
    table = de.get_variable("table", dim=2, initializer=tf.ones_initializer())
    ids = tf.placeholder(tf.int64, [None])
    dense = tf.get_variable("dense", [2], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(table.lookup(ids) * 3.0) + tf.reduce_sum(dense * 3.0)
    train = adam(0.1).minimize(loss)
    row = table.lookup([1])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train, {ids: [1]})
        before, whole = sess.run([row, dense])
        np.testing.assert_allclose(before[0], whole, rtol=1e-5)
        np.testing.assert_allclose(whole, 1.0 - 0.1 * 3, rtol=1e-4)
        sess.run(train, {ids: [2]})
        np.testing.assert_array_equal(sess.run(row), before)


class Counting(tf.train.Optimizer):
    """An optimizer of ops that work on whole variables."""

    def __init__(self) -> None:
        super().__init__(False, "Counting")

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self._zeros_slot(var, "count", "Counting")

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        slot = self.get_slot(handle, "count").handle
        return tf.raw_ops.ResourceScatterAdd(
            resource=slot, indices=indices, updates=grad
        )


def test_an_optimizer_of_other_ops_is_refused() -> None:
    table = de.get_variable("table", dim=2)
    loss = tf.reduce_sum(table.lookup([1]))
    with pytest.raises(TypeError, match="slot of an embedding variable"):
        Counting().minimize(loss)


def test_a_dense_gradient_is_refused() -> None:
    table = de.get_variable("table", dim=2)
    gradient = tf.zeros([3, 2])
    with pytest.raises(ValueError, match="has to be IndexedSlices over keys"):
        tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients(
            [(gradient, table.shards[0])]
        )


def test_gradients_are_slices_over_keys() -> None:
    table = de.get_variable("table", dim=2)
    loss = tf.reduce_sum(table.lookup([[5, 2**40]])) + tf.reduce_sum(table.lookup([5]))
    (pair,) = tf.train.AdagradOptimizer(0.1).compute_gradients(loss)
    assert pair[1] is table.shards[0]
    with tf.Session() as sess:
        gradient = sess.run(pair[0])
    assert sorted(gradient.indices.tolist()) == [5, 5, 2**40]
    assert (gradient.values == 1.0).all()


def test_look_ups_of_any_shape_and_by_the_library_s_functions() -> None:
    table = de.get_variable("table", dim=2, partitioner=shards(3))
    keys = np.array([[7, -1, 7], [2**40, 0, 3]])
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [7, -1, 3], [2, 2])
    rows = table.lookup(keys)
    assert rows.shape.as_list() == [2, 3, 2]
    with tf.Session() as sess:
        found = sess.run(rows)
        for other in (
            tf.nn.embedding_lookup(table, keys),
            de.embedding_lookup_unique(table, keys),
        ):
            np.testing.assert_array_equal(sess.run(other), found)
        summed = de.embedding_lookup_sparse(table, sparse, None, combiner="sum")
        np.testing.assert_allclose(
            sess.run(summed), [found[0, 0] + found[0, 1], found[1, 2]], rtol=1e-6
        )
        assert sess.run(table.lookup(np.zeros([0], np.int64))).shape == (0, 2)
        assert sess.run(table.size()) == 0


def test_rows_are_set_removed_and_exported() -> None:
    table = de.get_variable("table", dim=2, partitioner=shards(2))
    with tf.Session() as sess:
        values = np.arange(6.0, dtype=np.float32).reshape(3, 2)
        sess.run(table.upsert([4, 5, 4], values))
        keys, rows, freqs, steps = sess.run(table.export())
        order = keys.argsort()
        assert keys[order].tolist() == [4, 5]
        assert rows[order].tolist() == [[4.0, 5.0], [2.0, 3.0]]
        assert freqs.tolist() == steps.tolist() == [0, 0]
        sess.run(table.remove([5, 6]))
        assert sess.run(table.export().keys).tolist() == [4]
        sess.run(table.clear())
        assert sess.run(table.size()) == 0


def test_keys_are_admitted_by_their_updates() -> None:
    filter_option = de.CounterFilter(filter_freq=3, default_value=0.5)
    table = de.get_variable(
        "table", dim=1, initializer=2.0, filter_option=filter_option
    )
    ids = tf.placeholder(tf.int64, [None])
    rows = table.lookup(ids)
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(rows))
    with tf.Session() as sess:
        for expected in (0.5, 0.5, 1.0):
            sess.run(train, {ids: [8, 8]})  # one update, of the sum
            expected = expected if expected == 0.5 else 2.0 - 2.0
            assert sess.run(rows, {ids: [8]}) == [[expected]]
        assert sess.run(table.export().freqs).tolist() == [3]
        assert sess.run(rows, {ids: [9]}) == [[0.5]]


def test_rows_go_that_were_not_updated_for_long() -> None:
    table = de.get_variable("table", dim=1, evict_option=de.GlobalStepEvict(4))
    ids = tf.placeholder(tf.int64, [None])
    step = tf.train.get_global_step()
    loss = tf.reduce_sum(table.lookup(ids))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss, step)
    keys, evicted = table.export().keys, table.evict(step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for key in range(8):
            sess.run(train, {ids: [100, key]})
        assert sorted(sess.run(keys)) == [3, 4, 5, 6, 7, 100]
        assert sess.run(evicted) == 6
        assert sess.run(keys).tolist() == []


def build(count: int, **options: Any) -> tuple[Any, Any, Any, Any]:
    """(the variable, keys to feed, a step, a saver)."""
    tf.reset_default_graph()
    table = de.get_variable("scope/table", dim=2, partitioner=shards(count), **options)
    ids = tf.placeholder(tf.int64, [None])
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids)))
    return table, ids, adam(0.1).minimize(loss, step), tf.train.Saver()


@pytest.mark.parametrize("sharded", [False, True])
def test_a_checkpoint_is_restored_into_any_number_of_shards(
    tmp_path: Path, sharded: bool
) -> None:
    filter_option = de.CounterFilter(2)
    table, ids, train, _ = build(3, filter_option=filter_option)
    saver = tf.train.Saver(sharded=sharded)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, {ids: [1, 2, 3, -9]})
        sess.run(train, {ids: [1, 2, 3, 2**50]})
        path = saver.save(sess, str(tmp_path / "model"))
        sess.run(train, {ids: [1, 2, -9]})
        expected = sess.run(table.lookup([1, 2, 3, -9, 2**50]))
    for count in (1, 4 if sharded else 3):
        table, ids, train, saver = build(count, filter_option=filter_option)
        with tf.Session() as sess:
            saver.restore(sess, path)
            assert sess.run(table.size()) == 3
            sess.run(train, {ids: [1, 2, -9]})
            found = sess.run(table.lookup([1, 2, 3, -9, 2**50]))
            np.testing.assert_array_equal(found, expected)


def test_a_metagraph_restores_it(tmp_path: Path) -> None:
    table, ids, train, saver = build(2)
    rows = tf.identity(table.lookup([1, 2]), name="rows")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, {ids: [1, 2]})
        path, expected = saver.save(sess, str(tmp_path / "model")), sess.run(rows)
    tf.reset_default_graph()
    saver = tf.train.import_meta_graph(path + ".meta")
    with tf.Session() as sess:
        saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run("rows:0"), expected)


def test_a_variable_begins_with_the_rows_of_another_checkpoint(tmp_path: Path) -> None:
    table, ids, train, saver = build(2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, {ids: [1, 2, 3]})
        path = saver.save(sess, str(tmp_path / "model"))
        expected = sess.run(table.lookup([1, 2, 3]))
    tf.reset_default_graph()
    other = de.get_variable("other", dim=2, partitioner=shards(3))
    loss = tf.reduce_sum(other.lookup([1]))
    tf.train.AdagradOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(other.restore_from(path, "scope/table"))
        np.testing.assert_array_equal(sess.run(other.lookup([1, 2, 3])), expected)
        with pytest.raises(tf.errors.NotFoundError, match="other/part_0-keys"):
            sess.run(other.restore_from(path))
        strict = other.restore_from(path, "scope/table", slots_required=True)
        with pytest.raises(tf.errors.NotFoundError, match="Adagrad"):
            sess.run(strict)


def test_scopes_name_it_and_reuse_it() -> None:
    with tf.variable_scope("outer"):
        table = de.get_variable("table", dim=2)
        with pytest.raises(ValueError, match="outer/table already exists"):
            de.get_variable("table", dim=2)
    with tf.variable_scope("outer", reuse=True):
        assert de.get_variable("table", dim=2) is table
        with pytest.raises(ValueError, match="outer/none does not exist"):
            de.get_variable("none", dim=2)
    assert table.name == "outer/table"
    assert [v.name for v in tf.trainable_variables()] == ["outer/table/part_0:0"]
    assert tf.global_variables() == []


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"value_dtype": tf.int32}, TypeError, "float32 or float64"),
        ({"key_dtype": tf.string}, TypeError, "key_dtype must be int64"),
        ({"initializer": tf.glorot_uniform_initializer()}, ValueError, "begin with"),
        ({"dim": 0}, ValueError, "dim"),
    ],
)
def test_what_cannot_be_is_refused(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        de.get_variable("table", **{"dim": 2, **options})


def test_there_is_no_tensor_of_all_rows() -> None:
    table = de.get_variable("table", dim=2)
    with pytest.raises(TypeError, match="no tensor of all of them"):
        tf.identity(table.shards[0])
    with pytest.raises(TypeError, match="keys must be int64"):
        table.lookup([1.5])


def test_keys_and_rows_that_do_not_fit_are_refused() -> None:
    table = de.get_variable("table", dim=2)
    values = tf.placeholder_with_default(np.zeros([2, 3], np.float32), [None, None])
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"expected \[n,2\]"),
    ):
        sess.run(table.upsert([1, 2], values))
