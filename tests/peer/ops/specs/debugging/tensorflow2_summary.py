"""Specs of DebugNumericSummaryV2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _summary(d: Draw) -> Any:
    return call(
        d.array(d.shape(0, 3)),
        output_dtype=d.choice(["float32", "float64"]),
        tensor_debug_mode=d.choice([2, 3, 4, 5, 8]),
        tensor_id=d.integer(0, 9),
    )


spec(
    "DebugNumericSummaryV2",
    _summary,
    gradient=False,
    bad=(lambda d: call(d.array((2,)), tensor_debug_mode=1),),
)
