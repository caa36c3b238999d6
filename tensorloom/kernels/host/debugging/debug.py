"""What debuggers ask of a tensor, over NumPy values."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)

_IDENTITIES = [
    "Copy",
    "CopyHost",
    "DebugIdentity",
    "DebugIdentityV2",
    "DebugGradientIdentity",
    "DebugGradientRefIdentity",
]


@host_kernel(_IDENTITIES, aliases=True, large=True)
def _identity(c: OpKernelConstruction) -> Compute:
    return lambda value: value


def _check_name(name: bytes) -> None:
    """A watched tensor has a name: "node" or "node:0"."""
    if not name or name.count(b":") > 1:
        raise errors.InvalidArgumentError(
            None, None, f'Failed to parse tensor name: "{name.decode()}"'
        )


@host_kernel("DebugNanCount", large=True)
def _nan_count(c: OpKernelConstruction) -> Compute:
    _check_name(c["tensor_name"])
    floating = c["T"].is_floating

    def compute(value: Any) -> Any:
        return np.array([np.isnan(value).sum() if floating else 0], np.int64)

    return compute


@host_kernel("DebugNumericSummary", large=True)
def _numeric_summary(c: OpKernelConstruction) -> Compute:
    _check_name(c["tensor_name"])
    # Muted or not (`mute_if_healthy`) only tells whether a debugger hears of it.
    low, high = c["lower_bound"], c["upper_bound"]
    number = float(c["T"].as_datatype_enum)

    def compute(value: Any) -> Any:
        flat = np.asarray(value).reshape(-1).astype(np.float64)
        nan, finite = np.isnan(flat), flat[np.isfinite(flat)]
        below, above = flat <= low, flat >= high
        rest = flat[~nan & ~below & ~above]
        moments = [np.inf, -np.inf, np.nan, np.nan]
        if len(finite):
            moments = [finite.min(), finite.max(), finite.mean(), finite.var()]
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


_SHAPE_WIDTH: Final = 6  # dimensions that the summary of a shape has room for


@host_kernel("DebugNumericSummaryV2", large=True)
def _numeric_summary_v2(c: OpKernelConstruction) -> Compute:
    mode, summarize = c["tensor_debug_mode"], _SUMMARIES.get(c["tensor_debug_mode"])
    number, enum = c["tensor_id"], c["T"].as_datatype_enum
    dtype = np.dtype(c["output_dtype"].as_numpy_dtype)
    if summarize is None:
        raise errors.UnimplementedError(
            None, None, f"Unimplemented tensor debug mode: {mode}"
        )

    def compute(value: Any) -> Any:
        flat = np.asarray(value).reshape(-1).astype(np.float64)
        shape = np.shape(value)
        return np.array(summarize(flat, shape, number, enum), dtype)

    return compute


_Facts = list[Any]


def _health(flat: Any, shape: Any, number: int, enum: int) -> _Facts:
    return [number, not np.isfinite(flat).all()]


def _infinities(flat: Any) -> _Facts:
    found = (flat == -np.inf, flat == np.inf, np.isnan(flat))
    return [int(f.sum()) for f in found]


def _counts(flat: Any, shape: Any, number: int, enum: int) -> _Facts:
    return [number, flat.size, *_infinities(flat)]


def _full_health(flat: Any, shape: Any, number: int, enum: int) -> _Facts:
    finite = flat[np.isfinite(flat)]
    signs = [int(f.sum()) for f in (finite < 0, finite == 0, finite > 0)]
    device = -1  # TensorFlow's number for a device that it does not know
    return [number, device, enum, len(shape), flat.size, *_infinities(flat), *signs]


def _shape_facts(flat: Any, shape: Any, number: int, enum: int) -> _Facts:
    dims = [*shape[-_SHAPE_WIDTH:], *[0] * (_SHAPE_WIDTH - len(shape))]
    return [number, enum, len(shape), flat.size, *dims]


def _reduced(flat: Any, shape: Any, number: int, enum: int) -> _Facts:
    found = zip(_infinities(flat), (-np.inf, np.inf, np.nan), strict=True)
    return [value if count else 0.0 for count, value in found]


_SUMMARIES: Final = {
    2: _health,
    3: _counts,
    4: _full_health,
    5: _shape_facts,
    8: _reduced,
}
