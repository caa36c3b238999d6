"""torch's dtypes by ours, and the dtypes for which torch has the math functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

TORCH_DTYPES: dict[DType, torch.dtype] = {
    dtypes.float16: torch.float16,
    dtypes.bfloat16: torch.bfloat16,
    dtypes.float32: torch.float32,
    dtypes.float64: torch.float64,
    dtypes.complex64: torch.complex64,
    dtypes.complex128: torch.complex128,
    dtypes.int8: torch.int8,
    dtypes.int16: torch.int16,
    dtypes.int32: torch.int32,
    dtypes.int64: torch.int64,
    dtypes.uint8: torch.uint8,
    dtypes.uint16: torch.uint16,
    dtypes.uint32: torch.uint32,
    dtypes.uint64: torch.uint64,
    dtypes.bool: torch.bool,
    dtypes.qint8: torch.int8,
    dtypes.quint8: torch.uint8,
    dtypes.qint16: torch.int16,
    dtypes.quint16: torch.uint16,
    dtypes.qint32: torch.int32,
}

REAL_FLOATS = frozenset(
    [dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64]
)
COMPLEX = frozenset([dtypes.complex64, dtypes.complex128])
FLOATS = REAL_FLOATS | COMPLEX
# Without uint16, uint32 and uint64: torch only stores and converts those.
INTEGERS = frozenset(
    [dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8]
)
REALS = REAL_FLOATS | INTEGERS
NUMBERS = FLOATS | INTEGERS
