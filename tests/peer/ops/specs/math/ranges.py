"""Specs of LinSpace, Range."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import spec


def range_(d: Draw) -> Any:
    kind = d.dtype.np_dtype
    start, delta = d.integer(-4, 4), d.choice([-3, -1, 1, 2])
    if d.dtype.is_unsigned:
        start, delta = abs(start), abs(delta)
    limit = start + delta * d.integer(0, 5)
    bounds = [np.asarray(v, kind) for v in (start, limit, delta)]
    if d.dtype.name == "bfloat16":  # TensorFlow's shape function misreads constants
        return tuple(bounds)
    return tuple(K(bound) for bound in bounds)


def range_backwards(d: Draw) -> Any:
    kind = d.dtype.np_dtype
    return tuple(K(np.asarray(v, kind)) for v in (0, -5, 1))


def range_zero(d: Draw) -> Any:
    kind = d.dtype.np_dtype
    return tuple(K(np.asarray(v, kind)) for v in (0, 5, 0))


spec(
    "Range",
    range_,
    attr="Tidx",
    bad=(range_backwards, range_zero),
    mutate=("rank", "empty", "dtype"),
)


spec(
    "LinSpace",
    lambda d: (d.array(()), d.array(()), K(d.integer(1, 6), d.index_type())),
    bad=(lambda d: (d.array(()), d.array(()), K(0, "int32")),),
)
