"""Specs of AccumulateNV2, AddN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


spec("AddN", lambda d: ([d.array(s) for s in [d.shape()] * d.integer(1, 5)],))


spec("AccumulateNV2", lambda d: accumulate(d))


def accumulate(d: Draw) -> Any:
    shape = d.shape()
    return call([d.array(shape) for _ in range(d.integer(1, 4))], shape=shape)
