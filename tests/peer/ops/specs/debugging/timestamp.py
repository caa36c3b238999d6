"""Specs of DebugGradientIdentity, Timestamp."""

from __future__ import annotations

from tests.peer.ops.spec import call, spec

spec("DebugGradientIdentity", lambda d: (d.array(),), gradient=False)


spec(
    "Timestamp",
    lambda d: call(),
    types=(),
    canonical=lambda arrays: [a.shape for a in arrays] and [],
    mutate=(),
)
