"""Specs of _ParallelConcatStart, _ParallelConcatUpdate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.runtime_nodes import alone_spec


def _parallel_concat(d: Draw) -> Program:
    p = Program(differentiate=False)
    start = p.op("_ParallelConcatStart", shape=(2, 3), dtype=d.dtype)
    first = p.op("_ParallelConcatUpdate", start, d.array((1, 3)), loc=0)
    p.run(p.op("_ParallelConcatUpdate", first, d.array((1, 3)), loc=1))
    return p


def _beyond(d: Draw) -> Program:
    p = Program(differentiate=False)
    start = p.op("_ParallelConcatStart", shape=(2, 3), dtype=d.dtype)
    wide = d.array((1, 4))
    p.run(p.op("_ParallelConcatUpdate", start, wide, loc=0))
    return p


alone_spec(
    "_ParallelConcatStart _ParallelConcatUpdate",
    _parallel_concat,
    types=["float32", "int32", "float64"],
    bad=(_beyond,),
)
