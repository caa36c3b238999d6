"""Specs of ExperimentalParseExampleDataset, ParseExampleDataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.data.pipelines import read
from tests.peer.ops.specs.shared.pipelines import shaped

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.examples import drawn_examples


def _parsed_dataset(d: Draw) -> Program:
    p = Program()
    rows = p.op("TensorSliceDataset", [drawn_examples(d)], output_shapes=[()])
    batches = p.op(
        "BatchDataset", rows, p.const(2, "int64"), **shaped(["string"], [(None,)])
    )
    defaults = [p.const(np.array([], np.float32), "float32")]
    types, shapes = ["float32"], [(None, 2)]
    made = p.op(
        d.op,
        batches,
        p.const(2, "int64"),
        defaults,
        sparse_keys=[],
        dense_keys=["a"],
        sparse_types=[],
        dense_shapes=[(2,)],
        **shaped(types, shapes),
    )
    return read(p, made, types, shapes, 2)


spec(
    "ParseExampleDataset ExperimentalParseExampleDataset",
    _parsed_dataset,
    types=(),
    gradient=False,
    mutate=(),
)
