"""Specs of ImmutableConst."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.folder import FOLDER


def _mapped(d: Draw) -> Any:
    value = d.array(d.shape(0, 3, empty=0))
    data = np.asarray(value).tobytes()
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"region-{zlib.crc32(data):08x}"
    path.write_bytes(data)
    return _region(str(path), np.shape(value))


def _region(path: str, shape: tuple[int, ...]) -> Any:
    return call(shape=shape, memory_region_name=path)


spec(
    "ImmutableConst",
    _mapped,
    attr="dtype",
    types=["float32", "int32", "float64", "uint8", "complex64", "float16"],
    gradient=False,
    mutate=(),
    bad=(lambda d: _region("/no/such/file", (2,)),),
)
