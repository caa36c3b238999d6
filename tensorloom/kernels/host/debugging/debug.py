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
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.debugging.watching import watching

_COUNTED: Final = [
    *(dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.float16, dtypes.int8),
    *(dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64),
]
_SUMMARIZED: Final = [
    *(t for t in _COUNTED if t not in (dtypes.bfloat16, dtypes.float16)),
    dtypes.bool,
]
# Minimum, maximum, mean and variance of no finite element.
_NO_MOMENTS: Final = [np.inf, -np.inf, np.nan, np.nan]
_IDENTITIES = [
    "Copy",
    "CopyHost",
    "DebugIdentityV2",
    "DebugGradientIdentity",
    "DebugGradientRefIdentity",
]


@host_kernel(_IDENTITIES, aliases=True, large=True)
def _identity(c: OpKernelConstruction) -> Compute:
    return lambda value: value


@host_kernel("DebugIdentity", aliases=True, large=True)
def _debug_identity(c: OpKernelConstruction) -> Compute:
    return watching(c, lambda value: value, c["T"])


@host_kernel("_DebugBreak", aliases=True, large=True)
def _debug_break(c: OpKernelConstruction) -> Compute:
    return watching(c, lambda value: value, c["T"], waits=True)


@host_kernel("DebugNanCount", types={"T": _COUNTED}, large=True)
def _nan_count(c: OpKernelConstruction) -> Compute:
    floating = c["T"].is_floating

    def count(value: Any) -> Any:
        if value is None:
            return np.zeros([1], np.int64)
        return np.array([np.isnan(value).sum() if floating else 0], np.int64)

    return watching(c, count, dtypes.int64)


@host_kernel("DebugNumericSummary", types={"T": _SUMMARIZED}, large=True)
def _numeric_summary(c: OpKernelConstruction) -> Compute:
    low, high = c["lower_bound"], c["upper_bound"]
    number = float(c["T"].as_datatype_enum)
    # Of what is not initialized there is no more than the graph says.
    dims = c.input_shapes[0].dims_tuple
    place = [0] if dims is None or None in dims else [len(dims), *dims]
    # Only then a debugger hears of it.
    is_unhealthy = _has_bad_values if c["mute_if_healthy"] else None

    def compute(value: Any) -> Any:
        if value is None:
            return np.array([0.0] * 8 + _NO_MOMENTS + [number, *place], np.float64)
        flat = np.asarray(value).reshape(-1).astype(np.float64)
        nan, finite = np.isnan(flat), flat[np.isfinite(flat)]
        below, above = flat <= low, flat >= high
        rest = flat[~nan & ~below & ~above]
        moments: list[Any] = _NO_MOMENTS
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

    return watching(c, compute, dtypes.float64, is_unhealthy)


def _has_bad_values(summary: Any) -> bool:
    """Whether there are NaNs, or values beyond a bound."""
    return bool(summary[2] or summary[3] or summary[7])


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
