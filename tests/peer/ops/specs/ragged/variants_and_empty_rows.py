"""Specs of RaggedBincount, RaggedFillEmptyRows, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.references_and_counts import COUNTED, bincount

spec(
    "RaggedBincount",
    bincount,
    attr="Tidx",
    types=COUNTED,
    gradient=False,
    mutate=("dtype",),
)


def _ragged_rows(d: Draw) -> Any:
    return np.array([0, 0, 2], np.int64), d.array((3,)), np.int64(4), d.array(())


spec("RaggedFillEmptyRows", _ragged_rows, gradient=False, mutate=("dtype",))


spec(
    "RaggedFillEmptyRowsGrad",
    lambda d: (np.array([1, 0], np.int64), d.array((4,))),
    gradient=False,
    mutate=("dtype",),
)


def _ragged_variant(d: Draw) -> Program:
    p = Program(differentiate=False)
    splits = [p.const([0, 1, 1, 3], "int32")]
    made = p.op(
        "RaggedTensorToVariant",
        splits,
        p.feed(d.array((3,))),
        batched_input=False,
        Tsplits="int32",
    )
    p.run(
        p.op(
            "RaggedTensorFromVariant",
            made,
            input_ragged_rank=1,
            output_ragged_rank=1,
            Tvalues=d.dtype,
            Tsplits="int32",
        )
    )
    return p


spec(
    "RaggedTensorToVariant RaggedTensorFromVariant",
    _ragged_variant,
    attr="Tvalues",
    types=["float32", "int64", "string", "bool"],
    mutate=(),
)
