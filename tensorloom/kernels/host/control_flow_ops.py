"""Host kernel of Assert."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.math_ops_errors import invalid_argument, shape_text

_SHOWN = 3


@host_kernel("Assert", large=True)
def _assert(c: OpKernelConstruction) -> Compute:
    limit = c["summarize"]

    def compute(condition: Any, *data: Any) -> None:
        if condition.shape != ():
            raise invalid_argument(
                f"In[0] should be a scalar: {shape_text(condition.shape)}"
            )
        if not condition:
            shown = " ".join(f"[{summarize(value, limit)}]" for value in data)
            raise invalid_argument(f"assertion failed: {shown}")

    return compute


def summarize(value: Any, limit: int = _SHOWN) -> str:
    """The first `limit` elements of an array as TensorFlow prints them; -1: all."""
    array = np.asarray(value)
    flat = array.reshape(-1)
    count = flat.size if limit < 0 else min(limit, flat.size)
    text = " ".join(_element(x) for x in flat[:count].tolist())
    if array.ndim == 0 or count == flat.size:
        return text
    return f"{text}..."


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
