"""Specs of DebugGradientRefIdentity."""

from __future__ import annotations

from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.references_and_counts import referenced

spec(
    "DebugGradientRefIdentity",
    referenced,
    types=["float32", "int32", "complex64"],
    mutate=(),
)
