"""Gradients of convolutions and pools over volumes, examples, readers, old forms."""

from __future__ import annotations

import numpy as np

from tests.peer.ops.spec import call, spec

spec(
    "FakeParam",
    lambda d: call(dtype=d.dtype, shape=(2,)),
    attr="dtype",
    types=["float32"],
    mutate=(),
    canonical=lambda arrays: [np.zeros(a.shape) for a in arrays],
)
