"""Specs of IdentityReaderV2, ReaderNumRecordsProducedV2, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- readers ------------------------------------------------------------------------


def reader(d: Draw) -> Program:
    p = Program(differentiate=False)
    q = p.op("FIFOQueueV2", component_types=["string"], shapes=[()])
    r = p.op("IdentityReaderV2")
    names = np.array([b"x", b"y", b"z"], object)
    p.run(p.op("QueueEnqueueManyV2", q, [names]))
    p.run(p.op("ReaderReadV2", r, q))
    p.run(p.op("ReaderSerializeStateV2", r))
    p.run(p.op("ReaderReadUpToV2", r, q, np.int64(1)))
    p.run(p.op("ReaderNumRecordsProducedV2", r))
    p.run(p.op("ReaderNumWorkUnitsCompletedV2", r))
    p.run(p.op("ReaderResetV2", r))
    p.run(
        p.op("ReaderRestoreStateV2", r, np.array(b"\x08\x01\x10\x01\x18\x01", object))
    )
    p.run(p.op("ReaderNumRecordsProducedV2", r))
    return p


spec(
    "IdentityReaderV2 ReaderReadV2 ReaderReadUpToV2 ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompletedV2 ReaderSerializeStateV2 "
    "ReaderRestoreStateV2 ReaderResetV2",
    reader,
    types=(),
    gradient=False,
    mutate=(),
)
