"""Specs of DecodeLibsvm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.contrib_ops import alone_spec


def _lines(*lines: bytes) -> Any:
    return lambda d: call(np.array(lines, object), num_features=6)


def _libsvm(d: Draw) -> Any:
    floating = d.dtype.name.startswith("float")
    lines = [b"1 0:3 2:5", b" -1  5:2\t3:7\n", b"7"]
    if floating:
        lines += [b"2 0:0x10 1:1e3", b"3 4:-1.5 1:inf"]
    return call(
        np.array(lines, object),
        num_features=6,
        label_dtype=d.choice(("int64", "int32", "float32")),
    )


alone_spec(
    "DecodeLibsvm",
    _libsvm,
    attr="dtype",
    mutate=("dtype",),
    bad=tuple(
        _lines(line)
        for line in (
            *(b"", b"x 0:1", b"1 0:x", b"1 0", b"1 -1:2", b"1 :1", b"1 0:", b"1 0:1:2"),
            *(b"+1 0:1", b"1 +1:1", b"1 1.0:1", b"1.5 0:1", b"1 0:1.5.2"),
            *(b"99999999999999999999 0:1", b"1 99999999999999999999:1", b"1 0x1:1"),
        )
    ),
)
