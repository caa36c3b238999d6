"""Specs of BucketizeWithInputBoundaries."""

from __future__ import annotations

import numpy as np

from tests.peer.ops.specs.shared.contrib_ops import alone_spec

alone_spec(
    "BucketizeWithInputBoundaries",
    lambda d: (
        d.array(low=-5, high=9),
        np.sort(d.array((d.integer(0, 4),), "float32", low=-4, high=8)),
    ),
    mutate=("dtype",),
    bad=(lambda d: (d.array((3,)), np.array([2, 1], np.float32)),),
)
