"""Unary functions of sparse tensors keep indices and shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTIONS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (tf.abs, np.abs),
    (tf.math.negative, np.negative),
    (tf.sign, np.sign),
    (tf.square, np.square),
    (tf.sqrt, np.sqrt),
    (tf.tanh, np.tanh),
    (tf.math.tanh, np.tanh),
]


@pytest.mark.parametrize(("function", "expected"), FUNCTIONS)
def test_values_are_mapped(
    function: Callable[..., Any], expected: Callable[..., Any]
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 1], [2, 0]], [4.0, 9.0], [3, 2])
        for result in (function(sparse), function(x=sparse, name="given")):
            found = session.run(result)
            np.testing.assert_allclose(found.values, expected([4.0, 9.0]), rtol=1e-6)
            assert found.indices.tolist() == [[0, 1], [2, 0]]
            assert found.dense_shape.tolist() == [3, 2]


def test_others_refuse() -> None:
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[0]], [1.0], [1])
        with pytest.raises(TypeError):
            tf.exp(sparse)
        with pytest.raises(TypeError):
            tf.abs(object())
