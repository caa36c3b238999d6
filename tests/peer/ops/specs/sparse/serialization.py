"""Specs of DeserializeManySparse, DeserializeSparse, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.sparse_parts import VALUES, sparse_parts


def _round_trip(d: Draw) -> Program:
    p = Program()
    kind = d.choice(["string", "variant"])
    made = p.op("SerializeSparse", *sparse_parts(d), out_type=kind)
    p.run(p.op("DeserializeSparse", made, dtype=d.dtype))
    return p


def _many_round_trip(d: Draw) -> Program:
    p = Program()
    made = p.op("SerializeManySparse", *sparse_parts(d), out_type="string")
    p.run(p.op("DeserializeManySparse", made, dtype=d.dtype))
    return p


def _joined(d: Draw) -> Program:
    p = Program()
    made = p.op("SerializeManySparse", *sparse_parts(d), out_type="variant")
    p.run(p.op("DeserializeSparse", made, dtype=d.dtype))
    return p


spec("SerializeSparse", _round_trip, attr="T", types=VALUES, gradient=False, mutate=())


spec(
    "DeserializeManySparse",
    _many_round_trip,
    attr="dtype",
    types=VALUES,
    gradient=False,
    mutate=(),
)


spec("SerializeManySparse", _joined, attr="T", types=VALUES, gradient=False, mutate=())


spec(
    "DeserializeSparse", _joined, attr="dtype", types=VALUES, gradient=False, mutate=()
)
