"""Special functions that neither NumPy nor torch has, by compiled loops in float64."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.runtime.intra_op import in_ranges

# Elements that are worth a thread's while.
_WORTHWHILE: Final = 512


@host_kernel(["Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"], large=True)
def _special_function(c: OpKernelConstruction) -> Compute:
    from tensorloom.kernels.loops.math import special_functions as loops

    by_op: dict[str, Any] = {
        "Dawsn": loops.dawson,
        "Expint": loops.exponential_integral,
        "FresnelCos": lambda x, out: loops.fresnel(x, False, out),
        "FresnelSin": lambda x, out: loops.fresnel(x, True, out),
        "Spence": loops.spence,
    }
    function = by_op[c.op]

    def compute(x: Any) -> Any:
        x = np.asarray(x)
        wide = np.ascontiguousarray(x, np.float64).reshape(-1)
        values = np.empty(len(wide))

        def fill(begin: int, end: int) -> None:
            function(wide[begin:end], values[begin:end])

        in_ranges(fill, len(wide), _WORTHWHILE)
        return values.reshape(x.shape).astype(x.dtype)

    return compute
