"""Specs of Print."""

from __future__ import annotations

from tests.peer.ops.spec import call, spec

spec(
    "Print",
    lambda d: call(d.array(), [d.array(dtype="int32")], message="m", summarize=2),
    types=["float32", "int32", "string"],
    mutate=("dtype",),
)
