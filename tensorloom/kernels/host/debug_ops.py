"""What debuggers ask of a tensor, over NumPy values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel

_IDENTITIES = [
    "Copy",
    "CopyHost",
    "DebugIdentity",
    "DebugIdentityV2",
    "DebugGradientIdentity",
]


@host_kernel(_IDENTITIES, aliases=True, large=True)
def _identity(c: OpKernelConstruction) -> Compute:
    return lambda value: value


@host_kernel("DebugNanCount", large=True)
def _nan_count(c: OpKernelConstruction) -> Compute:
    floating = c["T"].is_floating

    def compute(value: Any) -> Any:
        return np.array([np.isnan(value).sum() if floating else 0], np.int64)

    return compute


@host_kernel("DebugNumericSummary", large=True)
def _numeric_summary(c: OpKernelConstruction) -> Compute:
    low, high, mute = c["lower_bound"], c["upper_bound"], c["mute_if_healthy"]
    number = float(c["T"].as_datatype_enum)

    def compute(value: Any) -> Any:
        flat = np.asarray(value).reshape(-1).astype(np.float64)
        nan = np.isnan(flat)
        below, above = flat <= low, flat >= high
        rest = flat[~nan & ~below & ~above]
        if mute and len(rest) == len(flat):
            return np.zeros(0)
        moments = [np.inf, -np.inf, np.nan, np.nan]
        if len(rest):
            moments = [rest.min(), rest.max(), rest.mean(), rest.var()]
        counts = [
            flat.size,
            nan.sum(),
            below.sum(),
            (rest < 0).sum(),
            (rest == 0).sum(),
            (rest > 0).sum(),
            above.sum(),
        ]
        shape = np.shape(value)
        return np.array(
            [1.0, *counts, *moments, number, len(shape), *shape], np.float64
        )

    return compute
