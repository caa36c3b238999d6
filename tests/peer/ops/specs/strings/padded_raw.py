"""Specs of DecodePaddedRaw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _padded_raw(d: Draw) -> Any:
    size = np.dtype(d.dtype.np_dtype).itemsize
    rows = [bytes(range(size * 2)), b"", b"\x01" * size * 4]
    return call(np.array(rows, object), np.int32(size * 3), little_endian=d.maybe())


spec("DecodePaddedRaw", _padded_raw, attr="out_type", mutate=("dtype",), version="2.21")
