"""Specs of Multinomial, RandomGamma, RandomGammaGrad, RandomPoissonV2, ...."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import Tolerance, call, spec


def sized(d: Draw) -> Any:
    shape = np.array(d.shape(0, 3, size=9), d.index_type())
    return call(K(shape), dtype=d.dtype, seed=d.integer(1, 99), seed2=d.integer(0, 99))


spec(
    "RandomUniform RandomStandardNormal TruncatedNormal",
    sized,
    attr="dtype",
    gradient=False,
    bad=(lambda d: call(K([-1], "int32"), dtype=d.dtype, seed=1),),
)


def uniform_int(d: Draw) -> Any:
    kind = d.dtype.np_dtype.type
    shape = np.array(d.shape(0, 3, size=9), np.int32)
    return call(
        K(shape), kind(-5), kind(d.integer(0, 50)), seed=d.integer(1, 99), seed2=4
    )


def uniform_int_empty(d: Draw) -> Any:
    kind = d.dtype.np_dtype.type
    return call(K([3], "int32"), kind(5), kind(5), seed=1)


spec("RandomUniformInt", uniform_int, attr="Tout", bad=(uniform_int_empty,))


spec(
    "RandomShuffle",
    lambda d: call(d.array(d.shape(0, 3)), seed=d.integer(1, 99), seed2=3),
    gradient=False,
)


def multinomial(d: Draw) -> Any:
    logits = d.array((d.integer(1, 3), d.integer(1, 5)))
    return call(
        logits,
        K(d.integer(0, 6), "int32"),
        seed=7,
        seed2=d.integer(0, 9),
        output_dtype=d.choice(["int32", "int64"]),
    )


spec("Multinomial", multinomial, gradient=False)


def gamma(d: Draw) -> Any:
    return call(
        K([d.integer(0, 5)], "int32"), d.array((2,), low=0.2, high=4), seed=7, seed2=3
    )


spec("RandomGamma", gamma, attr="T", gradient=False)


spec(
    "RandomGammaGrad",
    lambda d: (d.array((4,), low=0.5, high=4), d.array((4,), low=0.5, high=4)),
    tolerance=Tolerance(1e-3, 1e-4, "a series"),
    gradient=False,
    mutate=("dtype",),
)


spec(
    "RandomPoissonV2",
    lambda d: call(
        K([5], "int32"), d.array((3,), low=0.5, high=14), seed=7, seed2=3, dtype="int32"
    ),
    attr="R",
    gradient=False,
)


def stateless(d: Draw) -> Any:
    shape = np.array(d.shape(0, 3, size=9), np.int32)
    seed = d.rng.integers(0, 1000, 2).astype(d.index_type())
    return call(K(shape), seed, dtype=d.dtype)


spec(
    "StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal",
    stateless,
    attr="dtype",
    gradient=False,
    bad=(lambda d: call(K([2], "int32"), np.array([1], np.int32), dtype=d.dtype),),
)


def stateless_int(d: Draw) -> Any:
    kind = d.dtype.np_dtype.type
    return call(
        K([d.integer(0, 9)], "int32"), d.rng.integers(0, 1000, 2), kind(-5), kind(50)
    )


def stateless_multinomial(d: Draw) -> Any:
    return call(
        d.array((2, 4)),
        K(6, "int32"),
        d.rng.integers(0, 1000, 2),
        output_dtype=d.choice(["int32", "int64"]),
    )


spec("StatelessRandomUniformInt", stateless_int, attr="dtype")


spec("StatelessMultinomial", stateless_multinomial, gradient=False)
