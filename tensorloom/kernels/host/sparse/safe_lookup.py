"""Host kernels of lookups of sparse ids: `_NotDefault` and `_LookupIds`."""

from __future__ import annotations

import functools
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

# Places of all elements that are kept for shapes of up to so many bytes.
_MOST_KEPT_BYTES: Final = 1 << 20


@host_kernel("_NotDefault", large=True, aliases=True)
def not_default(c: OpKernelConstruction) -> Compute:
    """What differs from the default; in most batches that is everything."""

    def compute(x: Any, default: Any) -> tuple[Any, Any]:
        is_other = x != default
        if x.ndim and is_other.all():
            return _places_in(x.shape), x.reshape(-1)
        return np.argwhere(is_other), x[is_other]

    return compute


def _places_in(shape: tuple[int, ...]) -> Any:
    """The place of each element, int64 [n, rank]."""
    if np.prod(shape) * len(shape) * 8 > _MOST_KEPT_BYTES:
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
        indices, ids = np.ascontiguousarray(indices), np.ascontiguousarray(ids)
        counts = np.zeros(count, np.int64)
        bad = loops.count_valid(indices, ids, counts)
        if bad >= 0:
            kept = indices[ids >= 0]
            raise row_outside(int((ids[:bad] >= 0).sum()), kept, count)
        is_empty = counts == 0
        rows = np.empty(len(ids) + count, np.int32)
        filled = np.empty(len(rows), np.int64)
        size = int(loops.fill(indices, ids, int(default), counts, rows, filled))
        rows, filled = rows[:size], filled[:size]
        slots = np.zeros(1 << (2 * size).bit_length(), np.int32)
        distinct = np.empty(size, np.int64)
        places = np.empty(size, place_type)
        found = loops.find_distinct(filled, slots, distinct, places)
        return rows, distinct[:found], places, is_empty

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
