"""Specs of SparseFeatureCross, SparseFeatureCrossV2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.contrib_ops import alone_spec


def _feature_cross(d: Draw) -> Any:
    at = np.array([[0, 0], [0, 1], [1, 0]], np.int64)
    sizes = np.array([2, 3], np.int64)
    words = np.array([b"a", b"bc", b""], object)
    numbers, dense = np.array([4, -5, 6], np.int64), np.array([[7], [8]], np.int64)
    hashed = d.maybe()
    if not hashed:  # TensorFlow's kernel crashes on numbers beside strings
        numbers, dense = words, np.array([[b"x", b"y"], [b"z", b""]], object)
    return call(
        [at, at],
        [words, numbers],
        [sizes, sizes],
        [dense],
        hashed_output=hashed,
        num_buckets=d.choice((0, 100)),
        **({"hash_key": 956888297470} if d.op == "SparseFeatureCrossV2" else {}),
        out_type="int64" if hashed else "string",
        internal_type="string",
    )


alone_spec(
    "SparseFeatureCross SparseFeatureCrossV2", _feature_cross, types=(), examples=6
)
