"""Specs of ApplyAdagradDA, ResourceApplyAdagradDA, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.sums import SUMS

# --- optimizers --------------------------------------------------------------------


def _adagrad_da(d: Draw) -> Any:
    from tests.peer.ops.specs.shared.updates import updated

    sparse = "Sparse" in d.op
    values = [d.array((3, 2), low=0.5, high=2) for _ in range(3)]
    grad = d.array((2, 2) if sparse else (3, 2))
    rest = [d.array((), low=0.05, high=0.5) for _ in range(3)]
    ids = [np.array([2, 0], np.int32)] if sparse else []
    return updated(d, values, [grad, *ids, *rest, np.int64(d.integer(1, 3))])


def _amsgrad(d: Draw) -> Any:
    from tests.peer.ops.specs.shared.updates import updated

    values = [d.array((3, 2), low=0.5, high=2) for _ in range(4)]
    return updated(
        d,
        values,
        [d.array((), low=0.05, high=0.9) for _ in range(6)] + [d.array((3, 2))],
    )


spec(
    "ApplyAdagradDA ResourceApplyAdagradDA SparseApplyAdagradDA"
    " ResourceSparseApplyAdagradDA",
    _adagrad_da,
    types=["float16", "float32", "float64"],
    gradient=False,
    tolerance=SUMS,
    mutate=("dtype",),
)


spec(
    "ResourceApplyAdamWithAmsgrad",
    _amsgrad,
    types=["float16", "float32", "float64"],
    gradient=False,
    tolerance=SUMS,
    mutate=("dtype",),
)
