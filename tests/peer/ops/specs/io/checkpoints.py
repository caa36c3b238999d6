"""Checkpoints of version 1, and slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.files import folder, text

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


V1_TYPES = [
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8"),
    *("bool", "complex64", "complex128", "string"),
]


def whole(d: Draw) -> Any:
    """Two tensors saved by Save, read by Restore and RestoreV2."""
    p = Program(differentiate=False)
    path = p.const(text(folder() / f"v1_{d.dtype.name}_{d.example}"))
    names = p.const([b"a", b"b"])
    a, b = d.array(d.shape(0, 3)), d.array((2,), dtype="int32")
    save = p.op("Save", path, names, [p.feed(a), p.feed(b)])
    p.run(save)
    p.run(p.op("Restore", path, p.const(np.array(b"a", object)), dt=d.dtype))
    empty = p.const([b"", b""])
    p.run(p.op("RestoreV2", path, names, empty, dtypes=[d.dtype, "int32"]))
    return p


def sliced(d: Draw) -> Any:
    """Slices saved by SaveSlices, read whole, and by RestoreSlice."""
    p = Program(differentiate=False)
    path = p.const(text(folder() / f"v1s_{d.dtype.name}_{d.example}"))
    names = p.const([b"a", b"a", b"b"])
    specs = p.const([b"4 2 0,3:-", b"4 2 3,1:0,2", b""])
    parts = [d.array((3, 2)), d.array((1, 2)), d.array(())]
    save = p.op("SaveSlices", path, names, specs, [p.feed(x) for x in parts])
    p.run(save)
    name = p.const(np.array(b"a", object))
    p.run(p.op("Restore", path, name, dt=d.dtype))
    part = p.const(np.array(b"4 2 2,2:1,1", object))
    p.run(p.op("RestoreSlice", path, name, part, dt=d.dtype))
    return p


def missing(d: Draw) -> Any:
    p = Program(differentiate=False)
    path = p.const(text(folder() / "no such file"))
    p.run(p.op("Restore", path, p.const(np.array(b"a", object)), dt=d.dtype))
    return p


def merged(d: Draw) -> Any:
    """Two shards saved, merged and read."""
    p = Program(differentiate=False)
    place = folder()
    parts = [text(place / f"part_{d.dtype.name}_{i}") for i in range(2)]
    target = p.const(text(place / f"merged_{d.dtype.name}"))
    types = [d.dtype, "int32"]
    for name, part, dtype in zip((b"a", b"b"), parts, types, strict=True):
        value = p.feed(d.array(d.shape(0, 3), dtype=dtype))
        p.run(p.op("SaveV2", part, p.const([name]), p.const([b""]), [value]))
    prefixes = np.array([part[()] for part in parts], object)
    p.run(p.op("MergeV2Checkpoints", prefixes, target, delete_old_dirs=d.maybe(0.5)))
    names, slices = p.const([b"a", b"b"]), p.const([b"", b""])
    p.run(p.op("RestoreV2", target, names, slices, dtypes=types))
    return p


def merged_nothing(d: Draw) -> Any:
    p = Program(differentiate=False)
    none = np.array([str(folder() / "no such shard").encode()], object)
    p.run(p.op("MergeV2Checkpoints", none, p.const(text(folder() / "merged"))))
    return p


spec(
    "MergeV2Checkpoints",
    merged,
    types=["float32", "string"],
    bad=(merged_nothing,),
    mutate=(),
)


spec("Save", whole, types=V1_TYPES, mutate=())


spec(
    "Restore", whole, attr="dt", types=["float32", "string"], bad=(missing,), mutate=()
)


spec("SaveSlices", sliced, types=V1_TYPES, mutate=())


spec("RestoreSlice", sliced, attr="dt", types=["float32", "int64", "string"], mutate=())
