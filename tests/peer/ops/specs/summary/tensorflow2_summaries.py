"""Specs of AudioSummaryV2, TensorSummaryV2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- summaries ----------------------------------------------------------------------

TAG = np.array(b"tag", object)


def audio(d: Draw) -> Any:
    clips = d.array((d.integer(1, 4), 5, 2), dtype="float32", low=-1.2, high=1.2)
    if d.op.endswith("V2"):
        return call(TAG, clips, np.float32(8000), max_outputs=d.integer(1, 3))
    return call(TAG, clips, sample_rate=8000.0, max_outputs=d.integer(1, 3))


spec("AudioSummaryV2", audio, types=(), gradient=False, mutate=("rank",))


spec(
    "TensorSummaryV2",
    lambda d: call(TAG, d.array(d.shape(0, 2)), np.array(b"", object)),
    attr="T",
    types=["float32", "int32", "float64", "int64", "bool"],
    gradient=False,
    mutate=(),
)
