"""Specs of InplaceAdd, InplaceSub, InplaceUpdate, Placeholder, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _in_place(d: Draw) -> Any:
    x = d.array((4, 2))
    ids = np.array([2, 0], np.int32)
    return call(x, ids, d.array((2, 2)))


spec(
    "InplaceAdd InplaceSub InplaceUpdate",
    _in_place,
    gradient=False,
    mutate=("rank", "dtype"),
)


_PRODUCERS = {"Placeholder": 134, "PlaceholderV2": 22}


def _placeholder(d: Draw) -> Program:
    p = Program(_PRODUCERS[d.op], differentiate=False)
    made = p.op(d.op, dtype=d.dtype, shape=None if d.op == "Placeholder" else (2,))
    given = p.feed(d.array((2,)))
    p.run(p.op("Identity", given))
    del made
    return p


def _placeholder_unfed(d: Draw) -> Program:
    p = Program(_PRODUCERS[d.op], differentiate=False)
    p.run(p.op("Identity", p.op(d.op, dtype=d.dtype, shape=(2,))))
    return p


spec(
    "Placeholder PlaceholderV2",
    _placeholder,
    attr="dtype",
    bad=(_placeholder_unfed,),
    mutate=(),
    without=["qint8", "quint8", "qint32"],
)
