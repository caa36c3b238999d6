"""Specs of TensorStridedSliceUpdate."""

from __future__ import annotations

from tests.peer.ops.draw import K
from tests.peer.ops.spec import spec

spec(
    "TensorStridedSliceUpdate",
    lambda d: (
        d.array((4, 3)),
        *(K(v, "int32") for v in ([1, 0], [3, 3], [1, 2])),
        d.array((2, 2)),
    ),
    gradient=False,
    types=["float32", "int32", "bool", "string", "complex64"],
    mutate=("dtype",),
)
