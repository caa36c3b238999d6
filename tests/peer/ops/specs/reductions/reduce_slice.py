"""Specs of ReduceSliceMax, ReduceSliceMin, ReduceSliceProd, ReduceSliceSum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.spec import call

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.contrib_ops import alone_spec

# --- reductions and matrices -------------------------------------------------------


def _slices(d: Draw) -> Any:
    data = d.array((d.integer(1, 5), d.integer(1, 5)), low=0, high=3)
    kind = d.choice(("int32", "int64"))
    if d.maybe():
        indices = np.sort(d.rng.integers(0, 6, d.integer(0, 4))).astype(kind)
    else:
        indices = d.rng.integers(0, 7, (d.integer(1, 3), 2)).astype(kind)
    return call(data, indices, K(0 if indices.ndim == 1 else d.integer(0, 1), "int64"))


alone_spec(
    "ReduceSliceSum ReduceSliceProd ReduceSliceMax ReduceSliceMin",
    _slices,
    types=["float16", "float32", "float64", "int32", "int64", "uint8", "int8"],
    known={"shapes": "TensorFlow tells the shape of the indices, and computes another"},
)
