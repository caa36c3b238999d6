"""Specs of NonDeterministicInts, StatelessRandomGetAlg, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- stateless random numbers of the second version ------------------------------


def _keyed(d: Draw) -> Any:
    key, counter = (
        np.array([d.integer(0, 2**40)], np.uint64),
        np.array([d.integer(0, 99), 7], np.uint64),
    )
    more = (
        [d.array((), low=-3, high=0), d.array((), low=5, high=99)]
        if d.op.endswith("UniformIntV2")
        else []
    )
    return call(K([3, 5], "int32"), key, counter, np.int32(1), *more)


spec(
    "StatelessRandomNormalV2 StatelessRandomUniformV2 StatelessTruncatedNormalV2"
    " StatelessRandomUniformFullIntV2"
    " StatelessRandomUniformIntV2",
    _keyed,
    attr="dtype",
    gradient=False,
    mutate=("dtype",),
)


spec(
    "StatelessRandomUniformFullInt",
    lambda d: (K([3, 5], "int32"), np.array([d.integer(0, 99), 3], np.int64)),
    attr="dtype",
    gradient=False,
    mutate=("dtype",),
)


spec("StatelessRandomGetAlg", lambda d: call(), types=(), mutate=())


spec(
    "StatelessRandomPoisson",
    lambda d: (
        K([3, 4], "int32"),
        np.array([5, 3], np.int64),
        d.array((4,), low=1, high=20),
    ),
    attr="dtype",
    types=["float32", "float64"],
    gradient=False,
    mutate=("dtype",),
)


spec(
    "NonDeterministicInts",
    lambda d: (K([3, 5], "int64"),),
    attr="dtype",
    types=["int32", "int64", "uint32", "uint64"],
    canonical=lambda arrays: [np.array(a.shape) for a in arrays],
    gradient=False,
    mutate=("dtype",),
)
