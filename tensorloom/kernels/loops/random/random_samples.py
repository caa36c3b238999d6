"""Samples that take a number of words of their own, by compiled loops.

A kernel that needs them imports this module where it is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.runtime.intra_op import in_ranges
from tensorloom.kernels.loops.random import random_draws

if TYPE_CHECKING:
    from tensorloom.kernels.host.random.philox import Stream

_Doubles = NDArray[np.float64]

# Samples that are worth a thread's while.
_WORTHWHILE = 1024


def gamma(stream: Stream, alphas: _Doubles, samples: int) -> _Doubles:
    """Gamma(alpha, 1) samples [samples, alphas]."""
    values = np.empty((samples, len(alphas)))
    words, alphas = stream.halves(), np.ascontiguousarray(alphas)

    def fill(begin: int, end: int) -> None:
        random_draws.gammas(*words, alphas, begin, end, values)

    in_ranges(fill, values.size, _WORTHWHILE)
    return values


def poisson(stream: Stream, rates: _Doubles, samples: int, highest: float) -> _Doubles:
    """Poisson(rate) samples [samples, rates], none above `highest`.

    No rate is so far above it that none would do.
    """
    values = np.empty((samples, len(rates)))
    words, rates = stream.halves(), np.ascontiguousarray(rates)

    def fill(begin: int, end: int) -> None:
        random_draws.poissons(*words, rates, highest, begin, end, values)

    in_ranges(fill, values.size, _WORTHWHILE)
    return values


def binomial(
    stream: Stream, trials: Any, chances: Any, samples: int, *, one_run: bool
) -> _Doubles:
    """Successes [batches, samples] among trials [batches], by chances [batches].

    one_run: whether all samples share one run of words. Otherwise each has its own.
    """
    values = np.empty((len(trials), samples))
    trials = np.ascontiguousarray(trials, np.float64)
    chances = np.ascontiguousarray(chances, np.float64)
    random_draws.binomials(*stream.halves(), trials, chances, one_run, values)
    return values


def categorical(stream: Stream, logits: Any, samples: int) -> NDArray[np.int64]:
    """Class indices [batch, samples], sampled by the distribution of each row.

    logits: [batch, classes], of a number dtype. Those that are not finite have
      probability zero.
    """
    output = np.empty((len(logits), samples), np.int64)
    shares = np.empty(logits.shape[1])
    # Halves are exact as floats.
    is_short = logits.dtype == np.float32 or logits.itemsize < 4
    dtype = np.float32 if is_short else np.float64
    logits = np.ascontiguousarray(logits.astype(dtype, copy=False))
    random_draws.classes(*stream.halves(), logits, shares, output)
    return output


def shuffle(stream: Stream, values: NDArray[Any]) -> None:
    """Puts values [n] of four or eight bytes into a random order."""
    random_draws.shuffle(*stream.halves(), values.view(f"i{values.itemsize}"))
