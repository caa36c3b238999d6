"""InplaceAdd and its kin over NumPy values. The input is never changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.nn.checks import text


@host_kernel(["InplaceAdd", "InplaceSub", "InplaceUpdate"], large=True)
def _inplace(c: OpKernelConstruction) -> Compute:
    def compute(x: Any, i: Any, v: Any) -> Any:
        if x.ndim < 1:
            raise invalid_argument("x must be at least a vector")
        rows, values = np.asarray(i), np.asarray(v)
        if rows.ndim != 1:
            raise invalid_argument(f"i must be a vector. {text(rows.shape)}")
        if values.ndim != x.ndim or values.shape[1:] != x.shape[1:]:
            raise invalid_argument(
                f"x and v shape doesn't match: {text(x.shape)} vs. {text(values.shape)}"
            )
        if len(rows) != len(values):
            raise invalid_argument(
                "i and x shape doesn't match at index 0: "
                f"{text(rows.shape)} vs. {text(values.shape)}"
            )
        if not len(x) and len(rows):
            raise invalid_argument("x has no rows")
        result = x.copy()
        for row, value in zip(rows % max(len(x), 1), values, strict=True):
            if c.op == "InplaceAdd":
                result[row] += value
            elif c.op == "InplaceSub":
                result[row] -= value
            else:
                result[row] = value
        return result

    return compute
