"""Specs of CheckNumericsV2."""

from __future__ import annotations

import numpy as np

from tests.peer.ops.spec import call, spec

spec(
    "CheckNumericsV2",
    lambda d: call(d.array(d.shape(0, 3)), message="here"),
    bad=(
        lambda d: call(np.array([1, np.inf, -np.inf], d.dtype.np_dtype), message="m"),
        lambda d: call(np.array([np.nan], d.dtype.np_dtype), message="m"),
    ),
)
