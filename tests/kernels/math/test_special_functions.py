"""Special functions that are computed for many elements at once."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tensorloom as tf
from tensorloom.kernels.host.sparse import indices as sparse_indices
from tensorloom.kernels.torch.math import special as math_ops_special


@pytest.mark.parametrize(
    ("dtype", "precision"), [(torch.float64, 1e-13), (torch.float32, 1e-6)]
)
def test_zeta(dtype: torch.dtype, precision: float) -> None:
    random = np.random.RandomState(0)
    x = torch.from_numpy(1 + np.exp(random.uniform(-7, 4, 3000))).to(dtype)
    q = torch.from_numpy(np.exp(random.uniform(-5, 7, 3000))).to(dtype)
    found = math_ops_special.zeta(x, q).double()
    wanted = torch.special.zeta(x.double(), q.double()).to(dtype).double()
    plain = wanted.isfinite() & (wanted > 1e-37)
    np.testing.assert_allclose(found[plain], wanted[plain], precision)


def test_zeta_of_what_is_not_plain() -> None:
    x = torch.tensor([2.0, 1.0, 0.5, 2.0, 3.0, 2.5, torch.nan, torch.inf])
    q = torch.tensor([1.0, 2.0, 2.0, -1.0, -0.5, -0.5, 1.0, 2.0])
    wanted = torch.special.zeta(x, q)
    np.testing.assert_array_equal(math_ops_special.zeta(x, q), wanted)
    assert math_ops_special.zeta(x[:0], q[:0]).shape == (0,)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_betainc(dtype: str) -> None:
    a = np.array([2.0, 0.5, 30.0, 2.0, 2.0, -1.0, 2.0], dtype)
    b = np.array([3.0, 0.5, 40.0, 3.0, 3.0, 3.0, 3.0], dtype)
    x = np.array([0.25, 0.5, 0.5, 0.0, 1.0, 0.5, 1.5], dtype)
    wanted = [0.26171875, 0.5, 0.88579989, 0.0, 1.0, np.nan, np.nan]
    with tf.Session() as session:
        found = session.run(tf.betainc(a, b, x))
    np.testing.assert_allclose(found, wanted, 1e-6)
    assert found.dtype == dtype


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_selu_gradient_at_zero(dtype: str) -> None:
    outputs = np.tile(np.array([0.0, -0.0, 1.0, -1.0], dtype), 3000)
    feed = tf.placeholder(dtype, [None])
    with tf.Session() as session:
        found = session.run(
            tf.raw_ops.SeluGrad(gradients=tf.ones_like(feed), outputs=feed),
            {feed: outputs},
        )
    wanted = [1.0507009873554805, 1.0507009873554805, 1.0507009873554805, 0.75809934]
    np.testing.assert_allclose(found, np.tile(wanted, 3000), 1e-3)


def test_numbers_of_rows() -> None:
    rows = np.array([[3, 5], [-1, 9], [3, -2], [3, 5]])
    numbers = sparse_indices.row_numbers(rows)
    assert numbers is not None
    assert np.argsort(numbers, kind="stable").tolist() == [1, 2, 0, 3]
    assert numbers[0] == numbers[3]
    far = np.array([[0, 0], [2**62, 2**62]])
    assert sparse_indices.row_numbers(far) is None
    order = sparse_indices.lexical_order(far[::-1])
    assert order is not None
    assert order.tolist() == [1, 0]
