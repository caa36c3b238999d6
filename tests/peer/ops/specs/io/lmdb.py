"""Readers of LMDB databases, where the package that writes them is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.lmdb_files import ALONE, written_database

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _text(value: str) -> Any:
    return np.array(value.encode(), object)


def _reader(d: Draw) -> Program:
    p = Program()
    reader = p.op("LMDBReader", shared_name="", container="")
    queue = p.op("FIFOQueue", component_types=["string"], shapes=[()], shared_name="")
    p.run(p.op("QueueEnqueue", queue, [p.const(_text(written_database(d)))]))
    record = p.op("ReaderRead", reader, queue)
    p.run(record)
    p.run(p.op("ReaderNumRecordsProduced", reader))
    return p


if find_spec("lmdb") is not None:
    spec("LMDBReader", _reader, **ALONE)
