"""Ops that programs hold seldom: of old graphs, in mapped files."""

from __future__ import annotations

import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_FOLDER = Path(tempfile.gettempdir()) / "tensorloom-peer-files"


def _mapped(d: Draw) -> Any:
    value = d.array(d.shape(0, 3, empty=0))
    data = np.asarray(value).tobytes()
    _FOLDER.mkdir(exist_ok=True)
    path = _FOLDER / f"region-{zlib.crc32(data):08x}"
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


def _closed(d: Draw) -> Program:
    p = Program(differentiate=False)
    queue = p.op("FIFOQueue", component_types=["float32"], shapes=[()], shared_name="")
    asked = p.op("QueueIsClosed", queue)
    p.run(asked)
    p.run(p.op("QueueClose", queue))
    p.run(asked)
    return p


spec("QueueIsClosed", _closed, types=(), gradient=False, mutate=(), alone=True)


def _encoded(d: Draw) -> Program:
    """Lossless files are compared by what is in them."""
    p = Program(differentiate=False)
    image = d.array((5, 4, d.integer(1, 4)), low=0, high=200)
    written = p.op("EncodePng", p.feed(image), compression=d.integer(-1, 9))
    p.run(p.op("DecodePng", written, dtype=d.dtype, channels=0))
    return p


spec("EncodePng", _encoded, types=["uint8", "uint16"], gradient=False, mutate=())
