"""Specs of RecordInput."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.peer.ops.program import Program

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.readers import alone_spec


def _records(d: Draw) -> Program:
    """All records, in whatever order, over and over."""
    from tensorloom.storage.records.record_io import TFRecordWriter
    from tests.peer.ops.specs.shared.data_files import FOLDER

    p = Program(differentiate=False)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "input.records"
    with TFRecordWriter(str(path)) as writer:
        for number in range(4):
            writer.write(b"record %d" % number)
    attrs = {"batch_size": 4, "file_buffer_size": 1, "file_parallelism": 1}
    p.run(p.op(d.op, file_pattern=str(path), **attrs))
    return p


alone_spec(
    "RecordInput",
    _records,
    canonical=lambda arrays: [np.sort(np.ravel(one)) for one in arrays],
)
