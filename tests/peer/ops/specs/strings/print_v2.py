"""Specs of PrintV2."""

from __future__ import annotations

import numpy as np

from tests.peer.ops.draw import Value
from tests.peer.ops.spec import call, spec

spec(
    "PrintV2",
    lambda d: call(
        Value(np.array(b"text", object), always=True), output_stream="stderr"
    ),
    types=(),
    mutate=(),
)
