"""Host kernel of Cast."""

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

_WIDE_UNSIGNED = (dtypes.uint16, dtypes.uint32, dtypes.uint64)


# With `Truncate` TensorFlow zeroes the low bits of the source that the target's
# mantissa has no room for. (For float64 to complex64 it zeroes too many.)
LOW_BITS: Final = {
    (dtypes.float64, dtypes.float32): 29,
    (dtypes.float64, dtypes.float16): 42,
    (dtypes.float64, dtypes.complex64): 53,
    (dtypes.float32, dtypes.float16): 13,
    (dtypes.complex128, dtypes.complex64): 29,
}


def cast_function(
    source: dtypes.DType, target: dtypes.DType, truncate: bool
) -> Compute:
    """The function that casts arrays and scalars as TensorFlow's CPU kernel does.

    Floats out of an integer's range take what the x86 conversion gives, and NaN too.
    """
    to = dtypes.memory_dtype(target)
    if truncate and (source, target) == (dtypes.float32, dtypes.bfloat16):
        return _truncate_to_bfloat16
    if truncate and (source, target) in LOW_BITS:
        count = LOW_BITS[source, target]
        return lambda x: _without_low_bits(np.asarray(x), count).astype(to)[()]
    if source.is_complex and not target.is_complex and not target.is_bool:
        inner = cast_function(source.real_dtype, target, truncate)
        return lambda x: inner(x.real)
    via = _intermediate(source, target)
    if via is None:
        return lambda x: x.astype(to)
    return lambda x: x.astype(via).astype(to)


def _intermediate(source: dtypes.DType, target: dtypes.DType) -> Any:
    """The dtype on the way, where the direct conversion is not what the CPU does."""
    if not source.is_floating or not target.is_integer:
        return None
    if target is dtypes.uint32:
        return np.int64  # the low half of the signed conversion
    if source.size < 4:
        return np.float32 if target.size >= 4 else np.int32
    return np.int32 if target.size < 4 else None


def _truncate_to_bfloat16(x: Any) -> Any:
    bits = np.asarray(x, np.float32).view(np.uint32) >> np.uint32(16)
    return bits.astype(np.uint16).view(dtypes.bfloat16.np_dtype)[()]


def _without_low_bits(x: Any, count: int) -> Any:
    parts = np.ascontiguousarray(x).view(x.real.dtype)
    unsigned = np.dtype(f"u{parts.dtype.itemsize}")
    mask = unsigned.type(2 ** (8 * unsigned.itemsize) - 2**count)
    kept = (parts.view(unsigned) & mask).view(parts.dtype)
    return np.where(np.isnan(parts), parts, kept).view(x.dtype).reshape(x.shape)


_NO_NUMBERS: Final = (dtypes.string, dtypes.resource, dtypes.variant)


def check_castable(source: dtypes.DType, target: dtypes.DType) -> None:
    """Strings and handles are cast to nothing but themselves.

    Raises:
      UnimplementedError: one of the dtypes is no number.
    """
    if source != target and (source in _NO_NUMBERS or target in _NO_NUMBERS):
        raise errors.UnimplementedError(
            None, None, f"Cast {source.name} to {target.name} is not supported"
        )


@host_kernel("Cast")
def _cast(c: OpKernelConstruction) -> Compute:
    source, target = c["SrcT"].base_dtype, c["DstT"].base_dtype
    check_castable(source, target)
    if source == target:
        return lambda x: x
    return cast_function(source, target, c.get("Truncate", False))


for _dtype in _WIDE_UNSIGNED:
    host_kernel("Cast", types={"SrcT": {_dtype}}, large=True)(_cast)

# The constructor of a NumPy scalar takes half the time of astype; only where every
# value of the source has an exact or rounded value in the target.
_SAFE_INLINE = (
    (dtypes.float32, (dtypes.int32, dtypes.int64, dtypes.float64, dtypes.bool)),
    (dtypes.float64, (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.bool)),
    (dtypes.int64, (dtypes.int32, dtypes.bool)),
)
for _target, _sources in _SAFE_INLINE:
    host_kernel(
        "Cast",
        types={"SrcT": set(_sources), "DstT": {_target}, "Truncate": {False}},  # type: ignore[arg-type]
        inline=f"np.{_target.name}({{0}})",
    )(_cast)
