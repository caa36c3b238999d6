"""Specs of EditDistance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- sequences ---------------------------------------------------------------


def _edit_distance(d: Draw) -> Any:
    def sparse(rows: int) -> tuple[Any, Any, Any]:
        index = [[r, i] for r in range(rows) for i in range(d.integer(1, 4))]
        values = d.array((len(index),), low=0, high=3)
        return np.array(index, np.int64), values, np.array([rows, 4], np.int64)

    return call(*sparse(3), *sparse(3), normalize=d.maybe(0.5))


spec(
    "EditDistance",
    _edit_distance,
    gradient=False,
    types=["int32", "int64", "float32", "float64", "uint8"],
    mutate=("dtype",),
)
