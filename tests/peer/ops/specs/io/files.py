"""Specs of MatchingFiles, ReadFile, RestoreV2, SaveV2, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.files import folder, text

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

# --- files ----------------------------------------------------------------------


spec(
    "ReadFile",
    lambda d: (text(folder() / d.choice(["one.txt", "two.txt"])),),
    types=(),
    bad=(lambda d: (text(folder() / "none.txt"),), lambda d: (text(folder()),)),
    mutate=("dtype",),
)


spec(
    "WriteFile",
    lambda d: (text(folder() / "new" / "file.txt"), np.array(b"contents", object)),
    types=(),
    mutate=("dtype",),
    alone=True,
)


spec(
    "MatchingFiles",
    lambda d: (text(folder() / d.choice(["*.txt", "o*", "none*"])),),
    types=(),
    mutate=("dtype",),
)


spec(
    "ShardedFilename",
    lambda d: (np.array(b"name", object), np.int32(d.integer(0, 3)), np.int32(4)),
    types=(),
    mutate=("dtype", "rank"),
)


spec(
    "ShardedFilespec",
    lambda d: (np.array(b"name", object), np.int32(4)),
    types=(),
    mutate=("dtype", "rank"),
)


def checkpoint(d: Draw) -> Any:
    p = Program(differentiate=False)
    prefix = p.const(text(folder() / f"check_{d.dtype.name}_{d.example}"))
    names, slices = [b"a", b"b"], [b"", b""]
    a, b = d.array(d.shape(0, 3)), d.array((2,), dtype="int32")
    save = p.op(
        "SaveV2", prefix, p.const(names), p.const(slices), [p.feed(a), p.feed(b)]
    )
    types = [d.dtype, "int32"]
    load = p.op("RestoreV2", prefix, p.const(names), p.const(slices), dtypes=types)
    p.run(save)
    p.run(load)
    return p


def missing_checkpoint(d: Draw) -> Any:
    p = Program(differentiate=False)
    prefix = p.const(text(folder() / "no such checkpoint"))
    p.run(
        p.op("RestoreV2", prefix, p.const([b"a"]), p.const([b""]), dtypes=["float32"])
    )
    return p


def missing_tensor(d: Draw) -> Any:
    p = Program(differentiate=False)
    prefix = p.const(text(folder() / f"check_{d.dtype.name}_x"))
    save = p.op(
        "SaveV2", prefix, p.const([b"a"]), p.const([b""]), [p.feed(d.array((2,)))]
    )
    load = p.op("RestoreV2", prefix, p.const([b"b"]), p.const([b""]), dtypes=[d.dtype])
    p.run(save)
    p.run(load)
    return p


spec(
    "SaveV2",
    checkpoint,
    types=[
        "float16",
        "float32",
        "float64",
        "int8",
        "int32",
        "int64",
        "bool",
        "complex64",
        "string",
        "bfloat16",
        "uint8",
        "uint16",
    ],
    mutate=(),
)


spec(
    "RestoreV2",
    checkpoint,
    types=["float32", "int64", "string"],
    bad=(missing_checkpoint, missing_tensor),
    mutate=(),
)
