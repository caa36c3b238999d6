"""Specs of StatelessSampleDistortedBoundingBox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _box(d: Draw, share: float = 0.3, **attrs: Any) -> Any:
    low = d.rng.uniform(0, 0.4, (1, d.integer(1, 3), 2))
    box = np.concatenate([low, low + d.rng.uniform(0.2, 0.5, low.shape)], axis=2)
    sides = [d.integer(5, 100), d.integer(5, 100), 3]
    seed = d.rng.integers(-100, 100, 2).astype(d.choice(["int32", "int64"]))
    return call(
        np.array(sides, d.dtype.np_dtype),
        box.astype(np.float32),
        K(share, "float32"),
        seed,
        **attrs,
    )


spec(
    "StatelessSampleDistortedBoundingBox",
    _box,
    gradient=False,
    mutate=("rank",),
    bad=(
        lambda d: _box(d, -1.0),
        lambda d: _box(d, area_range=[0.5, 0.2]),
        lambda d: _box(d, aspect_ratio_range=[-1.0, 1.0]),
        lambda d: _box(d, max_attempts=0),
    ),
)
