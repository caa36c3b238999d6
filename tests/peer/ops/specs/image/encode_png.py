"""Specs of EncodePng."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _encoded(d: Draw) -> Program:
    """Lossless files are compared by what is in them."""
    p = Program(differentiate=False)
    image = d.array((5, 4, d.integer(1, 4)), low=0, high=200)
    written = p.op("EncodePng", p.feed(image), compression=d.integer(-1, 9))
    p.run(p.op("DecodePng", written, dtype=d.dtype, channels=0))
    return p


spec("EncodePng", _encoded, types=["uint8", "uint16"], gradient=False, mutate=())
