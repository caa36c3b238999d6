"""Specs of DenseToDenseSetOperation, DenseToSparseSetOperation, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- sets -----------------------------------------------------------------------


def sets(d: Draw) -> Any:
    from tests.peer.ops.spec import call

    a = np.asarray(d.array((2, 4), low=0, high=5))
    b = np.asarray(d.array((2, 3), low=0, high=5))
    operation = d.choice(["a-b", "b-a", "intersection", "union"])
    return call(a, b, set_operation=operation, validate_indices=True)


SETS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "string"]


spec("DenseToDenseSetOperation", sets, types=SETS, mutate=("dtype",))


def sparse_rows(d: Draw, low: int = 0) -> tuple[Any, Any, Any]:
    """A sparse [2, 3] matrix whose rows are sorted sets."""
    rows = [np.unique(d.array((d.integer(low, 3),), low=0, high=5)) for _ in range(2)]
    at = np.array(
        [[i, j] for i, row in enumerate(rows) for j in range(len(row))], np.int64
    ).reshape(-1, 2)
    values = np.concatenate(rows) if len(at) else np.asarray(d.array((0,)))
    return at, values, np.array([2, 3], np.int64)


def dense_sparse_sets(d: Draw) -> Any:
    from tests.peer.ops.spec import call

    a = np.asarray(d.array((2, 4), low=0, high=5))
    return call(
        a,
        *sparse_rows(d, 1),
        set_operation=d.choice(["a-b", "b-a", "intersection", "union"]),
    )


def sparse_sparse_sets(d: Draw) -> Any:
    from tests.peer.ops.spec import call

    operation = d.choice(["a-b", "b-a", "intersection", "union"])
    return call(*sparse_rows(d, 1), *sparse_rows(d, 1), set_operation=operation)


spec("DenseToSparseSetOperation", dense_sparse_sets, types=SETS, mutate=("dtype",))


spec("SparseToSparseSetOperation", sparse_sparse_sets, types=SETS, mutate=("dtype",))


spec("SetSize", lambda d: sparse_rows(d, 1), types=SETS, mutate=("dtype",))
