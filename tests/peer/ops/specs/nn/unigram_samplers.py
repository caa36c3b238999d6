"""Specs of LearnedUnigramCandidateSampler, ThreadUnsafeUnigramCandidateSampler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- samplers -----------------------------------------------------------------------


def unigrams(d: Draw) -> Any:
    classes = d.indices((3, 2), 20).astype(np.int64)
    return call(
        classes,
        num_true=2,
        num_sampled=d.integer(1, 9),
        unique=d.maybe(),
        range_max=20,
        seed=d.integer(1, 99),
        seed2=3,
    )


spec(
    "LearnedUnigramCandidateSampler ThreadUnsafeUnigramCandidateSampler",
    unigrams,
    types=(),
    gradient=False,
    mutate=("rank",),
)
