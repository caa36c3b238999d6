"""Specs of ResourceStridedSliceAssign, StridedSliceAssign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.updates import Q, updated


def strided_assign(d: Draw) -> Any:
    ends = [np.array(v, np.int32) for v in ([1, 0], [3, 3], [1, 2])]
    return updated(d, [d.array((4, 3))], [*ends, d.array((2, 2))])


spec(
    "StridedSliceAssign ResourceStridedSliceAssign",
    strided_assign,
    without=[*Q],
    mutate=("dtype",),
)
