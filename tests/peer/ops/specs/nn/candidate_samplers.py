"""Specs of AllCandidateSampler, ComputeAccidentalHits, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def sampler(d: Draw) -> Any:
    true = d.rng.integers(0, 20, (3, 2))
    return call(
        true,
        num_true=2,
        num_sampled=5,
        unique=d.maybe(),
        range_max=20,
        seed=3,
        seed2=d.integer(0, 9),
    )


spec(
    "LogUniformCandidateSampler UniformCandidateSampler",
    sampler,
    types=(),
    mutate=("rank", "size", "dtype"),
)


spec(
    "AllCandidateSampler",
    lambda d: call(
        d.rng.integers(0, 5, (3, 2)), num_true=2, num_sampled=5, unique=True, seed=3
    ),
    types=(),
    mutate=("rank", "dtype"),
)


spec(
    "ComputeAccidentalHits",
    lambda d: call(
        d.rng.integers(0, 5, (3, 2)), d.rng.integers(0, 5, (4,)), num_true=2
    ),
    types=(),
    mutate=("rank", "dtype"),
)


def fixed_unigram(d: Draw) -> Any:
    true = d.rng.integers(0, 4, (3, 1))
    return call(
        true,
        num_true=1,
        num_sampled=3,
        unique=d.maybe(),
        range_max=4,
        unigrams=[0.1, 0.4, 0.2, 0.3],
        seed=3,
        seed2=d.integer(0, 9),
    )


spec("FixedUnigramCandidateSampler", fixed_unigram, types=(), mutate=("rank", "dtype"))
