"""Modules of 1.15's Python sources that programs reach into."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.compat.internals import (
    bounded_spec,
    gradient_checker_v2,
    inplace_ops,
)
from tensorloom.compat.op_modules import newer_functions


def _cube(x: Any, y: Any) -> Any:
    return x * x * x + tf.gather(y, [0, 0, 1])


def test_jacobians_agree() -> None:
    with tf.Graph().as_default(), tf.Session():
        x = np.array([0.5, -1.0, 2.0])
        found = gradient_checker_v2.compute_gradient(_cube, [x, np.array([1.0, 2.0])])
        assert np.allclose(found[0][0], np.diag(3 * x * x))
        assert found[0][1].tolist() == [[1, 1, 0], [0, 0, 1]]
        assert gradient_checker_v2.max_error(*found) < 1e-5


def test_the_list_of_arguments_is_asked_for() -> None:
    with pytest.raises(ValueError, match="must be a list"):
        gradient_checker_v2.compute_gradient(_cube, np.zeros(3))  # type: ignore[arg-type]


def test_rows_are_replaced_or_changed() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ones([3, 2])
        found = session.run(
            [
                inplace_ops.inplace_update(x, [0, 2], [[5.0, 6.0], [7.0, 8.0]]),
                inplace_ops.inplace_add(x, 1, [1.0, 2.0]),
                inplace_ops.inplace_sub(x, None, tf.fill([3, 2], 3.0)),
                inplace_ops.empty_like(x, init=True),
            ]
        )
    assert found[0].tolist() == [[5, 6], [1, 1], [7, 8]]
    assert found[1].tolist() == [[1, 1], [2, 3], [1, 1]]
    assert found[2].tolist() == [[-2, -2]] * 3
    assert not found[3].any()


def test_bounds_fit_the_shape() -> None:
    spec = bounded_spec.BoundedTensorSpec((3, 5), tf.float32, 0, (5,) * 5, "a")
    assert (spec.minimum, spec.maximum.tolist()) == (0, [5.0] * 5)
    assert bounded_spec.BoundedTensorSpec.from_spec(spec) == spec
    with pytest.raises(ValueError, match="minimum is not compatible with shape"):
        bounded_spec.BoundedTensorSpec((3, 5), tf.float32, (1, 1, 1), 1)


def test_one_seed_fixes_the_regions() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.reshape(tf.range(64.0), [1, 8, 8, 1])
        pooled = newer_functions.fractional_max_pool_v2(x, [1.5, 1.5], seed=7)
        first, second = session.run(pooled), session.run(pooled)
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert first[0].shape == (1, 5, 5, 1)


MODULES = [
    ("python.ops.data_flow_ops", "Barrier MapStagingArea RecordInput StagingArea"),
    ("python.ops.functional_ops", "For Gradient If While partitioned_call"),
    (
        "python.ops.list_ops",
        "tensor_list_concat tensor_list_stack _build_element_shape",
    ),
    ("python.ops.confusion_matrix", "confusion_matrix"),
    ("python.ops.math_ops", "array_ops ops bincount _bucketize"),
    ("python.ops.nn_ops", "gen_nn_ops fractional_avg_pool_v2"),
    ("python.ops.inplace_ops", "alias_inplace_add empty inplace_update"),
    ("python.framework.tensor_spec", "BoundedTensorSpec"),
    ("python.util.nest", "_is_namedtuple _sequence_like _yield_value"),
    ("python.keras.utils.tf_utils", "register_symbolic_tensor_type"),
    ("python.autograph.converters", "break_statements"),
    ("python.autograph.pyct.transformer", "Base"),
    ("compat.v2", "keras optimizers"),
    ("compat.v2.keras", "layers initializers backend"),
]


@pytest.mark.parametrize(("path", "names"), MODULES)
def test_paths_give_their_names(path: str, names: str) -> None:
    module = importlib.import_module(f"tensorloom.{path}")
    assert all(getattr(module, name) is not None for name in names.split())


def test_values_are_asked_for_as_of_a_c_library() -> None:
    wrapper = importlib.import_module("tensorloom.python.pywrap_tensorflow")
    evaluate = wrapper.TF_TryEvaluateConstant_wrapper
    with tf.Graph().as_default() as graph:
        known, unknown = tf.constant([1, 2]) + 1, tf.placeholder(tf.int32)
        assert evaluate(graph._c_graph, known._as_tf_output()).tolist() == [2, 3]
        assert evaluate(graph._c_graph, unknown._as_tf_output()) is None
