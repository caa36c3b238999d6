"""Host kernels of lookups of sparse ids: `_NotDefault` and `_LookupIds`."""

from __future__ import annotations

import functools
import math
from typing import Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.sparse.indices import check_parts
from tensorloom.kernels.host.sparse.sparse_ops import row_outside
from tensorloom.kernels.host.strings.spans import kept_spans_of

# So many texts are measured sooner than compared one by one.
_MANY_TEXTS: Final = 20
# Places of all elements that are kept for shapes of up to so many bytes.
_MOST_KEPT_BYTES: Final = 1 << 20


@host_kernel("_NotDefault", large=True, aliases=True)
def not_default(c: OpKernelConstruction) -> Compute:
    """What differs from the default; in most batches that is everything."""
    is_text = c["T"] == dtypes.string

    def compute(x: Any, default: Any) -> tuple[Any, Any]:
        if is_text and x.size >= _MANY_TEXTS and default.item() == b"":
            # Who reads the texts next needs their lengths, too.
            is_other = kept_spans_of(x).lengths.reshape(x.shape) != 0
        else:
            is_other = x != default
        if x.ndim and np.count_nonzero(is_other) == x.size:
            return _places_in(x.shape), x.reshape(-1)
        return np.argwhere(is_other), x[is_other]

    return compute


def _places_in(shape: tuple[int, ...]) -> Any:
    """The place of each element, int64 [n, rank]."""
    if math.prod(shape) * len(shape) * 8 > _MOST_KEPT_BYTES:
        return _all_places(shape)
    return _kept_places(shape).copy()


def _all_places(shape: tuple[int, ...]) -> Any:
    numbers = np.indices(shape, np.int64).reshape(len(shape), -1)
    return np.ascontiguousarray(numbers.T)


_kept_places = functools.lru_cache(maxsize=16)(_all_places)


@host_kernel("_LookupIds", large=True)
def lookup_ids(c: OpKernelConstruction) -> Compute:
    """The ids of each row, and the different ones among them."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.sparse import lookup_ids as loops

    place_type, device = c["out_idx"].np_dtype, c.device

    def compute(indices: Any, ids: Any, shape: Any, default: Any) -> tuple[Any, ...]:
        if len(indices) != len(ids):
            indices, ids = _pruned(indices, ids)
        check_parts(indices, ids, shape)
        if not len(shape):
            raise invalid_argument("Dense shape cannot be empty.")
        count = int(shape[0])
        check_shape((count,), dtypes.int64, device)
        most = len(ids) + count
        rows, distinct = np.empty(most, np.int32), np.empty(most, np.int64)
        places, is_empty = np.empty(most, place_type), np.empty(count, np.bool_)
        indices, ids = np.ascontiguousarray(indices), np.ascontiguousarray(ids)
        bad, size, found = loops.ready_ids(
            indices, ids, int(default), rows, distinct, places, is_empty
        )
        if bad >= 0:
            kept = indices[ids >= 0]
            raise row_outside(int((ids[:bad] >= 0).sum()), kept, count)
        return rows[:size], distinct[:found], places[:size], is_empty

    return compute


def _pruned(indices: Any, ids: Any) -> tuple[Any, Any]:
    """Indices and ids without the negative ids, where there are more of the ones."""
    kept = np.flatnonzero(ids >= 0)
    if len(kept) and kept[-1] >= len(indices):
        at = int(np.searchsorted(kept, len(indices)))
        raise invalid_argument(
            f"indices[{at}] = {kept[at]} is not in [0, {len(indices)})"
        )
    return indices[kept], ids[kept]
