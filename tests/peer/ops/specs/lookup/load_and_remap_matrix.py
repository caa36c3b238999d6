"""Specs of LoadAndRemapMatrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.specs.shared.files import folder, text

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.readers import alone_spec


def _remapped(d: Draw, rows: Any = (), columns: Any = None, **more: Any) -> Program:
    """A matrix is saved, and read again with its rows in another order."""
    p = Program(differentiate=False)
    path = p.const(text(folder() / f"remapped{d.example}"))
    name, whole = p.const([b"m"]), p.const([b""])
    matrix = p.feed(np.arange(20, dtype=np.float32).reshape(5, 4))
    p.run(p.op("SaveV2", path, name, whole, [matrix]))
    rows = rows or [4, 0, -1, 2]
    columns = d.choice([[], [3, -1, 0]]) if columns is None else columns
    width = len(columns) or 4
    missing = rows.count(-1) * width + columns.count(-1) * (len(rows) - rows.count(-1))
    tensor = p.const(np.array(b"m", object))
    given = [p.const(np.array(one, np.int64)) for one in (rows, columns)]
    given.append(p.const(-np.arange(1, missing + 1, dtype=np.float32)))
    attrs = {"num_rows": len(rows), "num_cols": width, **more}
    attrs.setdefault("max_rows_in_memory", d.choice([-1, 2]))
    p.run(p.op(d.op, path, tensor, *given, **attrs))
    return p


alone_spec(
    "LoadAndRemapMatrix",
    _remapped,
    bad=(
        lambda d: _remapped(d, [0, 0], []),
        lambda d: _remapped(d, [9], []),
        lambda d: _remapped(d, [1], [], num_rows=3),
        lambda d: _remapped(d, [1], [], num_cols=9),
        lambda d: _remapped(d, [1], [], num_rows=-2),
    ),
)
