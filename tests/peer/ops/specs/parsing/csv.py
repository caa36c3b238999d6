"""Specs of DecodeCSV."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.safe_mutations import SAFE

# --- parsing --------------------------------------------------------------------


def decode_csv(d: Draw) -> Any:
    lines = np.array([b'1,2.5,"a,b"', b"3,,c", b",1,"], object)
    return call(
        lines,
        [
            K(np.array([7], np.int32)),
            K(np.array([0.5], np.float32)),
            K(np.array([b"x"], object)),
        ],
    )


spec("DecodeCSV", decode_csv, types=(), mutate=SAFE)
