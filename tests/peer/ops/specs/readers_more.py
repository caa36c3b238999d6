"""Readers of records, old handles of queues, and checkpoints read by rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.process_count import process_count
from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.input_output import folder, text
from tests.peer.ops.specs.queues import set_of_values

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_NUMBERS = process_count()


def _spec(ops: str, make: Any, **options: Any) -> None:
    common: dict[str, Any] = {"types": (), "gradient": False, "mutate": ()}
    spec(ops, make, alone=True, **{**common, **options})


def _old_queue(d: Draw) -> Program:
    p = Program(differentiate=False)
    types = {"component_types": [d.dtype], "shapes": [()], "capacity": 10}
    if d.op == "FakeQueue":
        inner = p.op("FIFOQueueV2", shared_name=f"queue{next(_NUMBERS)}", **types)
        queue = p.op(d.op, inner)
    else:
        queue = p.op(d.op, seed=3, seed2=5, **types)
    many = p.feed(d.array((6,)))
    p.run(p.op("QueueEnqueueMany", queue, [many]))
    p.run(p.op("QueueSize", queue))
    six = p.const(6, "int32")
    p.run(p.op("QueueDequeueMany", queue, six, component_types=[d.dtype]))
    return p


for _op, _canonical in (("RandomShuffleQueue", set_of_values), ("FakeQueue", None)):
    _spec(
        _op,
        _old_queue,
        attr="component_types",
        types=["float32", "int64", "string"],
        canonical=_canonical,
    )


def _records(d: Draw) -> Program:
    """All records, in whatever order, over and over."""
    from tensorloom.storage.records.record_io import TFRecordWriter
    from tests.peer.ops.specs.remaining_data import _FOLDER

    p = Program(differentiate=False)
    _FOLDER.mkdir(exist_ok=True)
    path = _FOLDER / "input.records"
    with TFRecordWriter(str(path)) as writer:
        for number in range(4):
            writer.write(b"record %d" % number)
    attrs = {"batch_size": 4, "file_buffer_size": 1, "file_parallelism": 1}
    p.run(p.op(d.op, file_pattern=str(path), **attrs))
    return p


_spec(
    "RecordInput",
    _records,
    canonical=lambda arrays: [np.sort(np.ravel(one)) for one in arrays],
)


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


_spec(
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
