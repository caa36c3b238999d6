"""Tables that live as long as their handle, and the first table with an empty key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
    from tests.peer.ops.program import Node


_WIDE = {"value_shape": (2,)}


def _spec(op: str, make: Any, **options: Any) -> None:
    spec(op, make, types=(), gradient=False, mutate=(), **options)


def _row(d: Draw, *shape: int) -> Any:
    return d.array(shape, dtype="float32")


def _found(
    d: Draw, p: Program, table: Node, put: str, wide: bool, keys: Any = (5, 7)
) -> None:
    """What a table tells after pairs were put into it, all in one step."""
    width = (2,) if wide else ()
    known = np.array(keys, np.int64)
    into = p.op(put, table, known, _row(d, len(known), *width))
    wanted = np.array([7, 1, 5, 9], np.int64)
    find = p.op("LookupTableFindV2", table, wanted, _row(d, *width), control=[into])
    size = p.op("LookupTableSizeV2", table, control=[into])
    p.run(find, size)


def _filled_once(d: Draw, keys: Any = (5, 7)) -> Program:
    p = Program(differentiate=False)
    table = p.op(d.op, key_dtype="int64", value_dtype="float32")
    _found(d, p, table, "InitializeTableV2", False, keys)
    return p


_spec("AnonymousHashTable", _filled_once, bad=(lambda d: _filled_once(d, (5, 5)),))


def _changing(d: Draw) -> Program:
    p = Program(differentiate=False)
    wide = d.op == "AnonymousMutableHashTableOfTensors"
    more: dict[str, Any] = _WIDE if wide else {}
    table = p.op(d.op, key_dtype="int64", value_dtype="float32", **more)
    _found(d, p, table, "LookupTableInsertV2", wide)
    return p


_spec("AnonymousMutableHashTable AnonymousMutableHashTableOfTensors", _changing)


def _dense(
    d: Draw, keys: Any = (5, 7), empty: Any = -1, deleted: Any = -2, **attrs: Any
) -> Program:
    p = Program(differentiate=False)
    marks = [p.const(empty, "int64"), p.const(deleted, "int64")]
    attrs = {"value_dtype": "float32", **_WIDE, **attrs}
    table = p.op(d.op, *marks, **attrs)
    _found(d, p, table, "LookupTableInsertV2", True, keys)
    return p


_spec(
    "AnonymousMutableDenseHashTable",
    _dense,
    bad=(
        lambda d: _dense(d, (5, -1)),
        lambda d: _dense(d, (5, -2)),
        lambda d: _dense(d, empty=3, deleted=3),
        lambda d: _dense(d, initial_num_buckets=3),
        lambda d: _dense(d, max_load_factor=0.0),
        lambda d: _dense(d, max_load_factor=1.0),
        lambda d: _dense(d, empty=[3]),
        lambda d: _dense(d, value_shape=(2, -1)),
    ),
)
