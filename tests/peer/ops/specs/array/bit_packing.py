"""Comparisons packed into bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _compared(d: Draw) -> Any:
    return d.array((*d.shape(0, 2), 8 * d.integer(0, 3))), d.array(())


spec(
    "CompareAndBitpack",
    _compared,
    gradient=False,
    bad=(
        lambda d: (d.array((2, 7)), d.array(())),
        lambda d: (d.array(()), d.array(())),
        lambda d: (d.array((2, 8)), d.array((1,))),
        lambda d: (np.full((8,), np.nan).astype(d.dtype.np_dtype), d.array(())),
    ),
)
