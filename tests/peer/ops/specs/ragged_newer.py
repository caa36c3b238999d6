"""Gradients of ragged rows, and hashed crosses (2.x).

RaggedCross has no spec: TensorFlow crashes on some of its unknown shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _spec(op: str, make: Any, **options: Any) -> None:
    common: dict[str, Any] = {"types": (), "gradient": False, "mutate": ()}
    spec(op, make, **{**common, **options})


# --- crosses --------------------------------------------------------------------


def _row_splits(d: Draw, rows: int, kind: Any) -> Any:
    lengths = d.rng.integers(1, 3, rows)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(kind)


def _hashed(d: Draw, buckets: int | None = None, **more: Any) -> Any:
    rows = 3
    count = d.integer(0, 2)
    places = [np.argwhere(d.rng.random((rows, 2)) < 0.6) for _ in range(count)]
    values = [d.array((len(one),), d.choice(["int64", "string"])) for one in places]
    shapes = [np.array([rows, 2], np.int64) for _ in places]
    dense = [d.array((rows, 2), d.choice(["int64", "string"]))]
    if d.maybe() or not count:
        dense.append(d.array((rows, 1), "int64"))
    settings = [
        K(d.choice([0, 100]) if buckets is None else buckets, "int64"),
        K(d.maybe(), "bool"),
        K([d.integer(0, 99), 7], "int64"),
    ]
    return call(places, values, shapes, dense, *settings, **{"N": count, **more})


_spec("SparseCrossHashed", _hashed, bad=(lambda d: _hashed(d, -1),))

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
