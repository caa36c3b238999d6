"""Ops that programs hold seldom: of old graphs, in mapped files."""

from __future__ import annotations

import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
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


def _drawn(d: Draw) -> Any:
    rate = d.array((3,), low=0.5, high=14)
    return call(K([5], "int32"), rate, seed=d.integer(1, 9), seed2=3)


# Since version 25 an error when the node is made.
spec("RandomPoisson", _drawn, attr="dtype", gradient=False, mutate=(), producer=24)


def _skipped(d: Draw) -> Program:
    p = Program(differentiate=False)
    state = p.op("VarHandleOp", dtype="int64", shape=(3,), shared_name="")
    p.run(p.op("AssignVariableOp", state, d.rng.integers(-1000, 1000, 3)))
    p.run(p.op("RngSkip", state, np.int64(1), np.int64(d.integer(0, 1 << 40))))
    p.run(p.op("ReadVariableOp", state, dtype="int64"))
    return p


spec("RngSkip", _skipped, types=(), gradient=False, mutate=())


def _vocabulary(words: Any) -> Any:
    data = b"".join(b"w%d\n" % word for word in words)
    _FOLDER.mkdir(exist_ok=True)
    path = _FOLDER / f"words-{zlib.crc32(data):08x}"
    path.write_bytes(data)
    return np.array(str(path).encode(), object)


def _remapped(d: Draw) -> Any:
    new, old = d.rng.permutation(9), d.rng.permutation(12)[: d.integer(0, 9)]
    offset = d.integer(0, 4)
    return call(
        K(_vocabulary(new), "string"),
        K(_vocabulary(old), "string"),
        new_vocab_offset=offset,
        num_new_vocab=d.integer(0, 9 - offset),
        old_vocab_size=d.choice([-1, 2, len(old)]),
    )


spec("GenerateVocabRemapping", _remapped, types=(), examples=8, mutate=())


def _nothing(d: Draw) -> Program:
    p = Program(differentiate=False)
    p.run(p.op("OptionalHasValue", p.op("OptionalNone")))
    return p


spec("OptionalNone", _nothing, types=(), gradient=False, mutate=())
