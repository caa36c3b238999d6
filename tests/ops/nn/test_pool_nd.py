"""`tf.nn.pool` of lines, images and volumes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(("kind", "reduced"), [("MAX", np.max), ("AVG", np.mean)])
def test_windows(rank: int, kind: str, reduced: Any) -> None:
    x = np.random.default_rng(0).random((1, *[4] * rank, 2)).astype(np.float32)
    pooled = tf.nn.pool(x, [2] * rank, kind, "VALID", strides=[2] * rank)
    blocks = x.reshape(1, *[2, 2] * rank, 2)
    wanted = reduced(blocks, axis=tuple(range(2, 2 + 2 * rank, 2)))
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(pooled), wanted, rtol=1e-6)


def test_too_many_dimensions() -> None:
    with pytest.raises(ValueError, match="num_spatial_dims <= 3"):
        tf.nn.pool(np.zeros([1, 2, 2, 2, 2, 1]), [1] * 4, "MAX", "VALID")
