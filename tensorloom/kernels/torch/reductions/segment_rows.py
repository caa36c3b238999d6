"""Rows of NumPy arrays brought together by the number of their segment."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import torch

# The dtypes that NumPy has too: the compiled loops are for these.
COMPILED: Final = (
    *(torch.float32, torch.float64, torch.complex64, torch.complex128),
    *(torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8),
)
# NumPy takes 3 ns for each element; for more, the loops are worth their loading.
FEW: Final = 1 << 9

_UFUNCS: Final[dict[str, np.ufunc]] = {
    "add": np.add,
    "multiply": np.multiply,
    "maxima": np.fmax,
    "minima": np.fmin,
    "latest_maxima": np.maximum,
    "latest_minima": np.minimum,
}


def combine_rows(how: str, out: Any, data: Any, ids: Any) -> None:
    """out[ids[i]] = out[ids[i]] and data[i] together, for each i in turn.

    Args:
      how: "add", "multiply"; "maxima", "minima", which pass over NaN; "latest_maxima",
        "latest_minima", where what follows a NaN takes its place.
      out: [rows, ...], contiguous.
      data: [k, ...], of the same dtype.
      ids: int32 or int64, [k], each less than rows; what has a negative one is left
        out.
    """
    width = math.prod(data.shape[1:])
    if data.size <= FEW and not (how.startswith("latest") and (data != data).any()):
        _combine_elements(_UFUNCS[how], out, data, ids, width)
        return
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.reductions import segments

    combine = getattr(segments, how)
    combine(out.reshape(len(out), width), matrix(data, width), places(ids))


def _combine_elements(how: np.ufunc, out: Any, data: Any, ids: Any, width: int) -> None:
    kept = ids >= 0
    if not kept.all():
        data, ids = data[kept], ids[kept]
    at = ids.astype(np.intp, copy=False)
    if width != 1:
        at = ((at * width)[:, None] + np.arange(width)).reshape(-1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        how.at(out.reshape(-1), at, data.reshape(-1))


def count_rows(ids: Any, rows: int) -> Any:
    """How many of `ids`, each in [0, rows), there are of each row: int64 [rows]."""
    if len(ids) <= FEW:
        return np.bincount(ids, minlength=rows)
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.reductions import segments

    counts = np.zeros(rows, np.int64)
    segments.count(counts, places(ids))
    return counts


def matrix(data: Any, width: int) -> Any:
    """Rows of so many elements each, as the loops take them."""
    return np.ascontiguousarray(data).reshape(len(data), width)


def places(ids: Any) -> Any:
    """Places of rows, as the loops take them."""
    return np.ascontiguousarray(ids, np.int64)
