"""Host kernel of Assert."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text

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
    """The first `limit` elements of an array as TensorFlow prints them; -1: all.

    Rows of a matrix stand in brackets, `[0 1 2][3...]...`.
    """
    array = np.asarray(value)
    count = array.size if limit < 0 else min(limit, array.size)
    flat = array.reshape(-1)[:count].tolist()
    shown = [summarize_element(x, array.dtype) for x in flat]
    text = _rows(shown, array.shape, 0, 0, count)[0] if array.ndim else "".join(shown)
    return text + "..." if array.size > count else text


def _rows(
    shown: list[str], shape: tuple[int, ...], axis: int, start: int, limit: int
) -> tuple[str, int]:
    """(text of one axis, position of the first element after it)."""
    if axis == len(shape) - 1:
        stop = min(start + shape[axis], limit)
        text = " ".join(shown[start:stop])
        cut = axis > 0 and stop < start + shape[axis]
        return text + "..." if cut else text, stop
    parts = []
    for _ in range(shape[axis]):
        if start >= limit:
            break
        text, start = _rows(shown, shape, axis + 1, start, limit)
        parts.append(f"[{text}]")
    return "".join(parts), start


def summarize_element(value: Any, dtype: np.dtype[Any]) -> str:
    """One element as TensorFlow prints it."""
    if isinstance(value, bytes):
        return "".join(map(_escaped, value))
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        # As few digits as a C library needs to read the number back.
        short, long = (15, 17) if dtype == np.float64 else (6, 9)
        kind = np.float64 if dtype == np.float64 else np.float32
        text = f"{value:.{short}g}"
        same = kind(float(text)) == kind(value) or value != value
        return text if same else f"{value:.{long}g}"
    return "?" if isinstance(value, complex) else str(value)


_ESCAPES = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}


def _escaped(byte: int) -> str:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
