"""Transformations about how a dataset runs leave its elements as they are."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.data import optimization

D = tf.data.Dataset


@pytest.mark.parametrize(
    "transformation",
    [
        optimization.assert_next(["Map"]),
        optimization.model(),
        optimization.non_serializable(),
        optimization.optimize(["map_fusion"]),
        optimization.optimize(),
    ],
)
def test_elements_stay(transformation: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.Dataset.range(3).apply(transformation).map(lambda x: x + 1)
        element = tf.data.make_one_shot_iterator(dataset).get_next()
        assert [sess.run(element) for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("use_resource", [False, True])
def test_captured_reference_variables_are_not_optimized(use_resource: bool) -> None:
    v = tf.get_variable("v", initializer=2, use_resource=use_resource)
    dataset = D.range(4).map(lambda x: x * tf.cast(v, tf.int64)).batch(2)
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.map_and_batch_fusion = True
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        iterator = dataset.with_options(options).make_initializable_iterator()
    told = [w for w in caught if "not compatible with tf.Variable" in str(w.message)]
    assert len(told) == (not use_resource)
    assert all("disabled: map_and_batch_fusion." in str(w.message) for w in told)
    ops = {op.type for op in tf.get_default_graph().get_operations()}
    assert ("OptimizeDataset" in ops) == use_resource
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(iterator.initializer)
        assert session.run(iterator.get_next()).tolist() == [0, 2]
