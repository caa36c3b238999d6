"""LMDB databases, where the package that reads and writes them is installed."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.process_count import process_count
from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.data import read, shaped

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_FOLDER = Path(tempfile.gettempdir()) / "tensorloom-peer-files"
_NAMES = process_count()
_PAIR = (["string", "string"], [(), ()])


def _written(d: Draw) -> str:
    """A database of some pairs; its file name."""
    import lmdb

    _FOLDER.mkdir(exist_ok=True)
    folder = _FOLDER / f"lmdb{next(_NAMES)}-{d.integer(0, 1 << 30)}"
    with (
        lmdb.open(str(folder), map_size=1 << 20) as database,
        database.begin(write=True) as transaction,
    ):
        for number in d.rng.permutation(d.integer(1, 5)):
            size = int(d.choice([0, 3, 5000]))
            transaction.put(b"key%d" % number, b"v" * size)
    return str(folder / "data.mdb")


def _text(value: str) -> Any:
    return np.array(value.encode(), object)


def _dataset(d: Draw, name: str = "") -> Program:
    p = Program()
    names = p.const(np.array([(name or _written(d)).encode()], object))
    made = p.op(d.op, names, **shaped(*_PAIR))
    return read(p, made, *_PAIR, 6)


def _reader(d: Draw) -> Program:
    p = Program()
    reader = p.op("LMDBReader", shared_name="", container="")
    queue = p.op("FIFOQueue", component_types=["string"], shapes=[()], shared_name="")
    p.run(p.op("QueueEnqueue", queue, [p.const(_text(_written(d)))]))
    record = p.op("ReaderRead", reader, queue)
    p.run(record)
    p.run(p.op("ReaderNumRecordsProduced", reader))
    return p


if find_spec("lmdb") is not None:
    _ALONE: dict[str, Any] = {
        "types": (),
        "gradient": False,
        "mutate": (),
        "alone": True,
    }
    spec(
        "LMDBDataset ExperimentalLMDBDataset",
        _dataset,
        bad=(lambda d: _dataset(d, "/no/such/data.mdb"),),
        **_ALONE,
    )
    spec("LMDBReader", _reader, **_ALONE)
