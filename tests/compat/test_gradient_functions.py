"""What TensorFlow's gradient modules have beside the public API."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.compat.op_modules import gradient_functions


def test_all_rows_of_a_tensor_as_slices() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        slices = gradient_functions.as_indexed_slices(tf.constant([[1.0], [2.0]]))
        assert gradient_functions.as_indexed_slices(slices) is slices
        found = session.run(slices)
        assert found.indices.tolist() == [0, 1]
        assert found.dense_shape.tolist() == [2, 1]
    with pytest.raises(TypeError, match="Not a Tensor or IndexedSlices"):
        gradient_functions.as_indexed_slices(3)


def test_products_of_a_hessian() -> None:
    matrix = np.array([[2.0, 1.0], [1.0, 4.0]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x, v = tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [5.0]])
        y = tf.matmul(tf.transpose(x), tf.matmul(matrix, x)) / 2.0
        (found,) = gradient_functions.hessian_vector_product(y, [x], [v])
        np.testing.assert_allclose(session.run(found), matrix @ [[3.0], [5.0]])
        with pytest.raises(ValueError, match="same length"):
            gradient_functions.hessian_vector_product(y, [x], [])


def test_variables_that_outputs_depend_on() -> None:
    with tf.Graph().as_default():
        used = [tf.Variable(1.0), tf.Variable(2.0, use_resource=True)]
        before = tf.Variable(3.0)
        compared = tf.Variable(4.0)
        x = before * 5.0
        y = x * used[0] + used[1] + tf.one_hot(tf.cast(compared, tf.int32), 1)[0]
        found = gradient_functions.get_dependent_variables([x], [y])
        assert {v.name for v in found} == {v.name for v in used}
        assert gradient_functions.get_dependent_variables([x], [x]) == []
