"""Specs of FixedLengthRecordReaderV2, IdentityReader, ..."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.storage.records.tfrecord import RecordWriter
from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_FOLDER = Path(tempfile.gettempdir()) / "tensorloom-peer-remaining"


def _text(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)


def _file(name: str, data: bytes) -> str:
    _FOLDER.mkdir(exist_ok=True)
    (_FOLDER / name).write_bytes(data)
    return str(_FOLDER / name)


def _records_file() -> str:
    name = _file("records", b"")
    with RecordWriter(name) as writer:
        for record in (b"", b"a", b"bc" * 70):
            writer.write(record)
    return name


# --- examples ----------------------------------------------------------------


# --- readers -----------------------------------------------------------------

_READERS: dict[str, dict[str, Any]] = {
    "TextLineReader": {"skip_header_lines": 1},
    "TFRecordReader": {},
    "FixedLengthRecordReader": {
        "header_bytes": 1,
        "record_bytes": 2,
        "footer_bytes": 1,
    },
    "WholeFileReader": {},
    "IdentityReader": {},
}


def _input_file(kind: str) -> str:
    if kind == "TFRecordReader":
        return _records_file()
    return _file("lines", b"head\none\r\ntwo\n\nlast")


def _reading(d: Draw) -> Program:
    kind = d.op if d.op.removesuffix("V2") in _READERS else "IdentityReader"
    v = "V2" if kind.endswith("V2") else ""
    base = kind.removesuffix("V2")
    # Readers of the first version were removed from graphs of version 26.
    p = Program(134 if v else 25, differentiate=False)
    reader = p.op(kind, **_READERS[base])
    queue = p.op("FIFOQueue" + v, component_types=["string"], shapes=[()])
    path = p.const(_text(_input_file(base)))
    p.run(p.op("QueueEnqueue" + v, queue, [path]))
    p.run(p.op("QueueEnqueue" + v, queue, [path]))
    p.run(p.op("QueueClose" + v, queue))
    p.run(p.op("ReaderRead" + v, reader, queue))
    counts = [
        p.op("ReaderNumRecordsProduced" + v, reader),
        p.op("ReaderNumWorkUnitsCompleted" + v, reader),
    ]
    p.run(*counts)
    p.run(p.op("ReaderReadUpTo" + v, reader, queue, p.const(3, "int64")))
    p.run(*counts)
    if base == "IdentityReader":
        state = p.op("ReaderSerializeState" + v, reader)
        p.run(state)
        p.run(p.op("ReaderReset" + v, reader))
        p.run(*counts)
        p.run(
            p.op(
                "ReaderRestoreState" + v,
                reader,
                p.const(_text(b"\x08\x01\x10\x01\x18\x01")),
            )
        )
        p.run(*counts)
    else:
        p.run(p.op("ReaderRead" + v, reader, queue))
        p.run(p.op("ReaderReset" + v, reader))
        p.run(*counts)
    return p


spec(
    "TextLineReaderV2 TFRecordReaderV2 FixedLengthRecordReaderV2 WholeFileReaderV2"
    " TextLineReader TFRecordReader WholeFileReader IdentityReader"
    " ReaderRead ReaderReadUpTo ReaderNumRecordsProduced ReaderNumWorkUnitsCompleted"
    " ReaderSerializeState ReaderRestoreState ReaderReset",
    _reading,
    types=(),
    gradient=False,
    mutate=(),
)
