"""Specs of CTCBeamSearchDecoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.sums import SUMS

# --- CTC -----------------------------------------------------------------------


def _beam_search(d: Draw) -> Any:
    inputs = d.array((4, 2, 3), distinct=True)
    return call(
        inputs,
        np.array([4, 3], np.int32),
        beam_width=d.integer(4, 8),
        top_paths=2,
        merge_repeated=d.maybe(),
    )


spec(
    "CTCBeamSearchDecoder",
    _beam_search,
    gradient=False,
    tolerance=SUMS,
    mutate=("rank", "dtype"),
)
