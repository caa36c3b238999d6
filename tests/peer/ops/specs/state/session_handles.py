"""Specs of DeleteSessionTensor, GetSessionHandle, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- values that a session keeps ----------------------------------------------


def _kept(d: Draw) -> Program:
    """The text of a handle is its session's own, and is used in later steps."""
    p = Program(differentiate=False)
    handle = p.op(d.op, p.feed(d.array(d.shape(0, 2))))
    p.run(handle)
    return p


def _texts(arrays: list[Any]) -> list[Any]:
    return [np.shape(one) for one in arrays]


spec(
    "GetSessionHandle GetSessionHandleV2",
    _kept,
    attr="T",
    types=["float32", "int64", "string", "bool"],
    gradient=False,
    canonical=_texts,
    mutate=("dtype",),
)


def _unknown(d: Draw, text: bytes = b"nothing;x:0;/cpu:0") -> Program:
    p = Program(differentiate=False)
    handle = p.feed(np.array(text, object))
    if d.op == "DeleteSessionTensor":
        used = p.op(d.op, handle)
    else:
        used = p.op(d.op, handle, dtype=d.dtype)
    p.run(used)
    p.run(used)
    return p


spec(
    "GetSessionTensor DeleteSessionTensor",
    _unknown,
    attr="dtype",
    types=["float32", "string"],
    gradient=False,
    bad=(lambda d: _unknown(d, b""), lambda d: _unknown(d, b"no parts")),
)
