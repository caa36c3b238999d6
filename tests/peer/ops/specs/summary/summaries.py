"""Specs of HistogramSummary, MergeSummary, ScalarSummary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def scalar_summary(d: Draw) -> Any:
    shape = d.shape(0, 2)
    tags = np.empty(shape, object)
    tags.reshape(-1)[:] = [f"t{i}".encode() for i in range(tags.size)]
    return tags, d.array(shape)


spec(
    "ScalarSummary",
    scalar_summary,
    bad=(lambda d: (np.array([b"a", b"b"], object), d.array((3,))),),
)


spec(
    "HistogramSummary",
    lambda d: (np.array(b"tag", object), d.array(d.shape(0, 2, empty=0))),
    bad=(
        lambda d: (
            (np.array(b"tag", object), np.array([np.nan], d.dtype.np_dtype))
            if d.dtype.is_floating
            else (np.array([b"tag"], object), d.array((1,)))
        ),
    ),
)


def merge_summary(d: Draw) -> Any:
    p = Program()
    a = p.op("ScalarSummary", np.array(b"a", object), np.array(1.0, np.float32))
    b = p.op("ScalarSummary", np.array(b"b", object), np.array(2.0, np.float32))
    p.run(p.op("MergeSummary", [a[0], b[0]]))
    return p


def merge_same(d: Draw) -> Any:
    p = Program()
    a = p.op("ScalarSummary", np.array(b"a", object), np.array(1.0, np.float32))
    p.run(p.op("MergeSummary", [a[0], a[0]]))
    return p


spec("MergeSummary", merge_summary, types=(), bad=(merge_same,), mutate=("dtype",))
