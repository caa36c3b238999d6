"""Arrays as one: the values of NumPy's own stack, in memory of their own."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array import stacking

FORMS = {
    "as it is": lambda x: x,
    "every other": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "read only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
}
DTYPES = ["bool", "int8", "uint16", "int64", "float32", "complex64", "float16"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(3,), (2, 3), (0,), (2, 0, 3), (400, 300)])
@pytest.mark.parametrize("dtype", [*DTYPES, dtypes.bfloat16.as_numpy_dtype])
def test_rows(dtype, shape, form) -> None:
    values = [FORMS[form](np.full(shape, i % 2, dtype)) for i in range(5)]
    found = stacking.stack_rows(values)
    assert found.dtype == values[0].dtype
    assert found.flags.carray  # aligned, in order, and can be written
    np.testing.assert_array_equal(found, np.stack(values))
    found[...] = 7
    for i, value in enumerate(values):
        np.testing.assert_array_equal(value, np.full(shape, i % 2, dtype))


@pytest.mark.parametrize("dtype", ["int32", "float32", "complex64"])
def test_scalars(dtype) -> None:
    values = [np.dtype(dtype).type(i) for i in range(4)]
    found = stacking.stack_rows(values)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.arange(4))


def test_arrays_of_variants_are_stacked() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
        one = tf.io.serialize_sparse(sparse, out_type=tf.variant)
        many = tf.stack([one, one])
        parts = tf.raw_ops.DeserializeSparse(serialized_sparse=many, dtype=tf.float32)
        size, values = session.run([tf.shape(tf.stack([many] * 4, axis=1)), parts[1]])
        assert size.tolist() == [2, 4, 3]
        assert values.tolist() == [1.0, 2.0, 1.0, 2.0]
