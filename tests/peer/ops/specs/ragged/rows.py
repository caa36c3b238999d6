"""Specs of RaggedGather, RaggedRange, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.safe_mutations import SAFE

# --- ragged ---------------------------------------------------------------------


def splits(d: Draw, rows: int) -> Any:
    return np.concatenate([[0], np.cumsum(d.rng.integers(0, 4, rows))]).astype(np.int64)


def ranges(d: Draw) -> Any:
    kind = d.dtype.np_dtype
    return call(
        np.array([0, 5, 2], kind), np.array([4, 1, 2], kind), np.array([1, -2, 1], kind)
    )


def ragged_gather(d: Draw) -> Any:
    outer = splits(d, 3)
    inner = splits(d, int(outer[-1]))
    values = d.array((int(inner[-1]), 2))
    indices = d.indices(d.shape(0, 2), 3, "int32")
    rank = np.ndim(indices)
    return call([outer, inner], values, indices, OUTPUT_RAGGED_RANK=1 + rank)


def ragged_values(d: Draw) -> Any:
    outer = splits(d, 3)
    inner = splits(d, int(outer[-1]))
    return call([outer, inner], d.array((int(inner[-1]),)))


def ragged_to_tensor(d: Draw) -> Any:
    rows = splits(d, 3)
    shape = d.choice([np.array([-1, -1], np.int64), np.array([3, 2], np.int64)])
    return call(
        K(shape),
        d.array((int(rows[-1]),)),
        d.array(()),
        [rows],
        row_partition_types=["ROW_SPLITS"],
    )


spec("RaggedRange", ranges, gradient=False, mutate=SAFE)


spec(
    "RaggedGather",
    ragged_gather,
    attr="Tvalues",
    types=["float32", "int64", "string"],
    mutate=SAFE,
)


spec(
    "RaggedTensorToSparse",
    ragged_values,
    types=["float32", "int32", "string"],
    mutate=SAFE,
)


spec(
    "RaggedTensorToTensor",
    ragged_to_tensor,
    types=["float32", "int32", "string"],
    mutate=SAFE,
    gradient=False,
)
