"""Specs of RaggedTensorToVariantGradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- crosses --------------------------------------------------------------------


def _row_splits(d: Draw, rows: int, kind: Any) -> Any:
    lengths = d.rng.integers(1, 3, rows)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(kind)


# --- gradients ------------------------------------------------------------------


def _from_rows(d: Draw) -> Program:
    """Rows as variants, and what their gradients are of the values."""
    p = Program(differentiate=False)
    splits = _row_splits(d, d.integer(1, 4), np.int64)
    total = int(splits[-1])
    inner = d.shape(0, 1, size=3, empty=0)
    values = p.feed(d.array((total, *inner)))
    rows = p.op("RaggedTensorToVariant", [p.const(splits)], values, batched_input=True)
    shape = p.const(np.array([total, *inner], np.int32), "int32")
    p.run(p.op(d.op, rows, p.const(splits), shape, Tvalues=d.dtype))
    return p


spec(
    "RaggedTensorToVariantGradient",
    _from_rows,
    attr="Tvalues",
    types=["float32", "float64", "int32"],
    gradient=False,
    mutate=(),
)
