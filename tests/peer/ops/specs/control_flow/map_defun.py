"""Specs of MapDefun."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _mapped(d: Draw) -> Program:
    p = Program(differentiate=False)
    body = p.function([d.dtype, d.dtype], lambda f, x, y: [f.op("AddV2", x, y)])
    rows, other = d.array((4, 2)), d.array((2,))
    p.run(
        p.op(
            "MapDefun",
            [p.feed(rows)],
            [p.feed(other)],
            f=body,
            output_types=[d.dtype],
            output_shapes=[(2,)],
        )
    )
    return p


spec("MapDefun", _mapped, attr="output_types", types=["float32", "int64"], mutate=())
