"""Specs of HashTable, InitializeTable, ..."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _text(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)


# --- tables of the first version -----------------------------------------------


def _table(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("HashTable", key_dtype="string", value_dtype="int64")
    if d.op == "InitializeTableFromTextFile":
        path = Path(tempfile.gettempdir()) / "tensorloom_op_specs_table.txt"
        path.write_bytes(b"a\nb\nc\n")
        init = p.op(d.op, made, p.const(_text(str(path))), key_index=-2, value_index=-1)
    else:
        init = p.op(
            "InitializeTable",
            made,
            p.const([b"a", b"b", b"c"]),
            p.const([1, 2, 3], "int64"),
        )
    find = p.op(
        "LookupTableFind", made, p.feed([b"c", b"nothing", b"a"]), p.const(-1, "int64")
    )
    p.run(find)
    p.run(init)
    p.run(find, p.op("LookupTableSize", made))
    return p


def _mutable_table(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("MutableHashTable", key_dtype="int64", value_dtype="float32")
    p.run(
        p.op(
            "LookupTableInsert",
            made,
            np.array([5, 7], np.int64),
            np.array([0.5, 0.7], np.float32),
        )
    )
    find = p.op(
        "LookupTableFind", made, np.array([[5, 1], [9, 7]], np.int64), p.const(-1.0)
    )
    size = p.op("LookupTableSize", made)
    p.run(find, size)
    p.run(
        p.op(
            "LookupTableImport",
            made,
            np.array([1], np.int64),
            np.array([0.1], np.float32),
        )
    )
    p.run(find, size)
    p.run(p.op("LookupTableExport", made, Tkeys="int64", Tvalues="float32"))
    return p


def _table_of_vectors(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op(d.op, key_dtype="int64", value_dtype="float32", value_shape=(2,))
    p.run(
        p.op(
            "LookupTableInsert",
            made,
            np.array([5, 7], np.int64),
            d.array((2, 2), dtype="float32"),
        )
    )
    p.run(
        p.op("LookupTableFind", made, np.array([7, 1], np.int64), p.const([9.0, 9.0]))
    )
    p.run(p.op("LookupTableSize", made))
    return p


spec(
    "HashTable InitializeTable InitializeTableFromTextFile", _table, types=(), mutate=()
)


spec(
    "MutableHashTable LookupTableInsert LookupTableFind LookupTableSize"
    " LookupTableImport LookupTableExport",
    _mutable_table,
    types=(),
    mutate=(),
)


spec("MutableHashTableOfTensors", _table_of_vectors, types=(), mutate=())
