"""Specs of HashTableV2, InitializeTableFromTextFileV2, ..."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- tables ---------------------------------------------------------------------


def table(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("HashTableV2", key_dtype="string", value_dtype="int64")
    keys, values = p.const([b"a", b"b", b"c"]), p.const([1, 2, 3], "int64")
    init = p.op("InitializeTableV2", made, keys, values)
    default = p.const(-1, "int64")
    find = p.op("LookupTableFindV2", made, p.feed([b"c", b"nothing", b"a"]), default)
    size = p.op("LookupTableSizeV2", made)
    p.run(find)
    p.run(init)
    p.run(find, size)
    return p


def mutable_table(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("MutableHashTableV2", key_dtype="int64", value_dtype="float32")
    put = p.op(
        "LookupTableInsertV2",
        made,
        np.array([5, 7], np.int64),
        np.array([0.5, 0.7], np.float32),
    )
    load = p.op(
        "LookupTableImportV2",
        made,
        np.array([1], np.int64),
        np.array([0.1], np.float32),
    )
    default = p.const(-1.0)
    find = p.op(
        "LookupTableFindV2", made, np.array([[5, 1], [9, 7]], np.int64), default
    )
    size = p.op("LookupTableSizeV2", made)
    remove = p.op("LookupTableRemoveV2", made, np.array([5, 6], np.int64))
    export = p.op("LookupTableExportV2", made, Tkeys="int64", Tvalues="float32")
    p.run(put)
    p.run(find, size)
    p.run(remove)
    p.run(find, size)
    p.run(load)
    p.run(find, size)
    p.run(export)
    return p


def table_of_vectors(d: Draw) -> Program:
    p = Program(differentiate=False)
    dense = d.op == "MutableDenseHashTableV2"
    if dense:
        made = p.op(
            d.op,
            p.const(-1, "int64"),
            p.const(-2, "int64"),
            value_dtype="float32",
            value_shape=(2,),
        )
    else:
        made = p.op(d.op, key_dtype="int64", value_dtype="float32", value_shape=(2,))
    p.run(
        p.op(
            "LookupTableInsertV2",
            made,
            np.array([5, 7], np.int64),
            d.array((2, 2), dtype="float32"),
        )
    )
    p.run(
        p.op("LookupTableFindV2", made, np.array([7, 1], np.int64), p.const([9.0, 9.0]))
    )
    p.run(p.op("LookupTableSizeV2", made))
    return p


spec("HashTableV2 InitializeTableV2", table, types=(), mutate=())


def table_from_file(d: Draw) -> Program:
    path = Path(tempfile.gettempdir()) / "tensorloom_op_specs_words.txt"
    path.write_bytes(b"a\nb\nc\n")
    p = Program(differentiate=False)
    made = p.op("HashTableV2", key_dtype="string", value_dtype="int64")
    init = p.op(
        "InitializeTableFromTextFileV2",
        made,
        p.const(np.array(str(path).encode(), object)),
        key_index=-2,
        value_index=-1,
        vocab_size=d.choice([-1, 3]),
    )
    p.run(init)
    p.run(
        p.op("LookupTableFindV2", made, p.feed([b"c", b"none"]), p.const(-1, "int64")),
        p.op("LookupTableSizeV2", made),
    )
    return p


spec("InitializeTableFromTextFileV2", table_from_file, types=(), mutate=())


spec(
    "MutableHashTableV2 LookupTableInsertV2 LookupTableFindV2 LookupTableSizeV2 "
    "LookupTableImportV2 LookupTableRemoveV2"
    " LookupTableExportV2",
    mutable_table,
    types=(),
    mutate=(),
)


spec(
    "MutableHashTableOfTensorsV2 MutableDenseHashTableV2",
    table_of_vectors,
    types=(),
    mutate=(),
)
