"""Optimizers of `tf.contrib.opt` and `tf.contrib.optimizer_v2`, by what they reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

opt = tf.contrib.opt
v2 = tf.contrib.optimizer_v2

OPTIMIZERS = {
    "AdaMax": lambda: opt.AdaMaxOptimizer(0.1),
    "AdamW": lambda: opt.AdamWOptimizer(0.001, 0.1),
    "AddSign": lambda: opt.AddSignOptimizer(0.1),
    "LazyAdam": lambda: opt.LazyAdamOptimizer(0.1),
    "MomentumW": lambda: opt.MomentumWOptimizer(0.001, 0.05, 0.5),
    "Nadam": lambda: opt.NadamOptimizer(0.1),
    "PowerSign": lambda: opt.PowerSignOptimizer(0.1),
    "RegAdagrad": lambda: opt.RegAdagradOptimizer(0.5),
    "Shampoo": lambda: opt.ShampooOptimizer(learning_rate=0.3),
    "GGT": lambda: opt.GGTOptimizer(0.1),
    "Adadelta": lambda: v2.AdadeltaOptimizer(50.0),
    "Adagrad": lambda: v2.AdagradOptimizer(0.5),
    "Adam": lambda: v2.AdamOptimizer(0.1),
    "GradientDescent": lambda: v2.GradientDescentOptimizer(0.1),
    "Momentum": lambda: v2.MomentumOptimizer(0.05, 0.5),
    "RMSProp": lambda: v2.RMSPropOptimizer(0.05),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_it_minimizes(name: str) -> None:
    x = tf.get_variable("x", initializer=[[2.0, -1.0]])
    loss = tf.reduce_sum(tf.square(x - [[1.0, 0.5]]))
    train = OPTIMIZERS[name]().minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        first = sess.run(loss)
        for _ in range(40):
            sess.run(train)
        assert sess.run(loss) < 0.3 * first


def test_rows_that_have_no_gradient_are_left_alone() -> None:
    table = tf.get_variable("t", initializer=np.ones([3, 2], np.float32))
    lazy = opt.LazyAdamOptimizer(0.1)
    train = lazy.minimize(tf.reduce_sum(tf.gather(table, [1])))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        rows = sess.run(table)
        moments = sess.run(lazy.get_slot(table, "m"))
    assert rows[[0, 2]].tolist() == [[1, 1], [1, 1]]
    assert rows[1, 0] < 1
    assert not moments[[0, 2]].any()


def test_weights_of_some_variables_decay() -> None:
    a, b = tf.Variable(2.0), tf.Variable(2.0)
    zeros = [(tf.constant(0.0), a), (tf.constant(0.0), b)]
    make = opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    train = make(0.1, learning_rate=1.0).apply_gradients(zeros, decay_var_list=[a])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run([a, b]) == [pytest.approx(1.8), 2.0]


def test_scipy_minimizes_within_constraints() -> None:
    pytest.importorskip("scipy")
    p = tf.get_variable("p", initializer=[3.0, 1.0])
    loss = tf.reduce_sum(tf.square(p))
    equal, least = p[0] + p[1] - 1.0, p[0] - 0.7
    constrained = opt.ScipyOptimizerInterface(
        loss, [p], equalities=[equal], inequalities=[least], method="SLSQP"
    )
    bounded = opt.ScipyOptimizerInterface(
        tf.reduce_sum(tf.square(p - 5.0)), [p], var_to_bounds={p: (-1.0, [2.0, 7.0])}
    )
    losses: list[Any] = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        constrained.minimize(sess, fetches=[loss], loss_callback=losses.append)
        assert sess.run(p) == pytest.approx([0.7, 0.3], abs=1e-4)
        bounded.minimize(sess)
        assert sess.run(p) == pytest.approx([2.0, 5.0], abs=1e-4)
        assert losses[0] == 10.0
        with pytest.raises(ValueError, match="var_to_bounds"):
            opt.ScipyOptimizerInterface(loss, [p], bounds=3).minimize(sess)


def test_averages_are_saved_under_the_names_of_variables(tmp_path: Any) -> None:
    u = tf.get_variable("u", initializer=[4.0])
    averaging = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.5), 0.5)
    with pytest.raises(RuntimeError, match="apply_gradients or minimize"):
        averaging.swapping_saver()
    train = averaging.minimize(tf.reduce_sum(u))
    saver = averaging.swapping_saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        path = saver.save(sess, str(tmp_path / "c"))
    assert tf.train.load_variable(path, "u").tolist() == [3.75]
    assert tf.train.load_variable(path, "u/ExponentialMovingAverage").tolist() == [3.5]


def test_a_device_function_sees_each_variable_once() -> None:
    seen = []

    def place(op: Any) -> str:
        seen.append(op.name)
        return ""

    with tf.device(place):
        v = tf.Variable(1.0, name="v")
        v.initialized_value()
    assert seen.count("v") == 1


def test_an_optimizer_of_ones_own_gets_its_state() -> None:
    class Signs(v2.OptimizerV2):  # type: ignore[misc, name-defined]
        """Steps of one size."""

        def __init__(self) -> None:
            super().__init__(False, "Signs")
            self._set_hyper("rate", lambda: 0.5)

        def _create_vars(self, var_list: Any, state: Any) -> None:
            state.create_non_slot(0.0, "count")

        def _apply_dense(self, grad: Any, var: Any, state: Any) -> Any:
            return tf.assign_sub(var, state.get_hyper("rate") * tf.sign(grad))

        def _finish(self, state: Any) -> Any:
            return state.get_non_slot("count").assign_add(1.0)

    x = tf.Variable(3.0)
    signs = Signs()
    train = signs.minimize(tf.square(x))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run([x, signs.variables()[0]]) == [2.5, 1.0]
