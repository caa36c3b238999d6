"""Centers of clusters and rounds of coordinate ascent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _floats(d: Draw, *shape: int) -> Any:
    return d.rng.standard_normal(shape).astype(np.float32)


def _centers(d: Draw) -> Any:
    n = d.choice([1, 3, 8, 30])  # of two, either sees the other as far
    count, retries = d.integer(1, n), d.integer(-1, 3)
    return call(
        _floats(d, n, 3),
        K(count, "int64"),
        K(d.integer(0, 99), "int64"),
        K(retries, "int64"),
    )


def _few(d: Draw, rows: int, count: int) -> Any:
    return call(_floats(d, rows, 3), *(np.int64(n) for n in (count, 1, 1)))


spec(
    "KmeansPlusPlusInitialization",
    _centers,
    types=(),
    examples=10,
    gradient=False,
    mutate=("dtype", "rank"),
    bad=(
        lambda d: _few(d, 0, 1),
        lambda d: _few(d, 3, 4),
        lambda d: _few(d, 3, 0),
    ),
)


_LOSSES = [
    "logistic_loss",
    "squared_loss",
    "hinge_loss",
    "smooth_hinge_loss",
    "poisson_loss",
]


def _sdca(d: Draw, labels: Any = None, used: int = 10, repeated: bool = False) -> Any:
    """Examples that share no feature, as TensorFlow visits them in any order; or
    with dense features a single one."""
    dense = d.integer(0, 2)
    n = 1 if dense else d.integer(1, 4)
    sparse = d.integer(0 if dense else 1, 2)
    valued = d.integer(0, sparse)
    owners, features, values = [], [], []
    for _ in range(sparse):
        counts = d.rng.integers(0, 4, n)
        owners.append(np.repeat(np.arange(n), counts).astype(np.int64))
        total = int(counts.sum())
        chosen = np.zeros(total) if repeated else d.rng.permutation(used)[:total]
        features.append(chosen.astype(np.int64) * 7)
        values.append(_floats(d, total))
    state = np.zeros((n, 4), np.float32)
    loss = d.choice(_LOSSES)
    if labels is None:
        labels = d.rng.integers(0, 2, n)
    if d.maybe():  # later rounds: duals within the loss' domain
        state[:, 0] = d.rng.uniform(0.1, 0.9, n) * (2 * labels[:n] - 1)
    sizes = [d.integer(1, 3) for _ in range(dense)]
    adaptive = "adaptative" if d.op == "SdcaOptimizer" else "adaptive"
    attrs: dict[str, Any] = {adaptive: n == 1 and d.maybe()}
    return call(
        owners,
        features,
        values[:valued],
        [_floats(d, n, size) for size in sizes],
        d.rng.uniform(0.5, 2, n).astype(np.float32),
        np.resize(labels, n).astype(np.float32),
        [np.arange(10, dtype=np.int64) * 7] * sparse,
        [_floats(d, 10) for _ in range(sparse)],
        [_floats(d, size) for size in sizes],
        state,
        loss_type=loss,
        num_sparse_features=sparse,
        num_sparse_features_with_values=valued,
        num_dense_features=dense,
        l1=d.choice([0.0, 0.3]),
        l2=d.choice([1.0, 2.5]),
        num_loss_partitions=d.integer(1, 3),
        num_inner_iterations=d.integer(1, 3),
        **attrs,
    )


spec(
    "SdcaOptimizer SdcaOptimizerV2",
    _sdca,
    types=(),
    examples=30,
    gradient=False,
    tolerance=Tolerance(1e-4, 1e-5, reason="sums in another order", widened=4),
    mutate=("dtype",),
    bad=(
        lambda d: _sdca(d, labels=np.array([-0.5])),
        lambda d: _sdca(d, used=20),
        lambda d: _sdca(d, repeated=True),
    ),
)
