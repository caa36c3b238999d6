"""Segment reductions into a given number of segments.

TensorFlow has them only where XLA compiles; rows whose id is not in [0, num_segments)
are left out, as there. Empty segments hold the neutral element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_COMBINE: Final[dict[str, tuple[Callable[..., None], Callable[[DType], Any]]]] = {
    "SegmentSumV2": (np.add.at, lambda dtype: 0),
    "SegmentProdV2": (np.multiply.at, lambda dtype: 1),
    "SegmentMaxV2": (np.maximum.at, lambda dtype: dtype.min),
    "SegmentMinV2": (np.minimum.at, lambda dtype: dtype.max),
}


@host_kernel(list(_COMBINE), large=True)
def segment_reduce(c: OpKernelConstruction) -> Compute:
    """[num_segments, ...] from rows and their ids."""
    combine, start = _COMBINE[c.op]
    dtype = c["T"]
    to, first = dtype.np_dtype, start(dtype)

    def compute(data: Any, ids: Any, num_segments: Any) -> Any:
        count = int(num_segments)
        if count < 0:
            raise invalid_argument(f"num_segments must be >= 0, got {count}")
        if ids.ndim != 1 or data.shape[:1] != ids.shape:
            raise invalid_argument(
                "segment_ids should be the same size as dimension 0 of input."
            )
        out = np.full((count, *data.shape[1:]), to.type(first))
        kept = (ids >= 0) & (ids < count)
        combine(out, ids[kept], data[kept])
        return out

    return compute
