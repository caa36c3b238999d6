"""Specs of SkipGramGenerateCandidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import call

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.contrib_ops import alone_spec, scalar_input

# --- text and features -------------------------------------------------------------


def _skips(d: Draw, low: int = -1, high: int = -1, start: int = 0) -> Any:
    least = d.integer(0, 2) if low == -1 else low
    count = d.integer(1, 20)
    tokens = d.array((count,))
    return call(
        tokens,
        scalar_input(least),
        scalar_input(least + d.choice((0, 1, 3, 6)) if high == -1 else high),
        scalar_input(start),
        scalar_input(d.choice((-1, count // 2, count + 5))),
        scalar_input(d.maybe(), bool),
        seed=d.integer(1, 1000),
        seed2=d.integer(1, 1000),
    )


alone_spec(
    "SkipGramGenerateCandidates",
    _skips,
    types=["string", "int64", "int32", "int16"],
    bad=(lambda d: _skips(d, low=-3, high=2), lambda d: _skips(d, low=3, high=2)),
)
