"""Gamma and Poisson samples by rejection, as TensorFlow's kernels draw them.

Every sample reads its own run of words, so that results do not depend on how the work
is split. Rejection makes the number of words differ from sample to sample; each sample
is drawn by a short Python loop over a few blocks that are made together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.kernels.host.philox import (
    SAMPLES_PER_OUTPUT,
    Stream,
    UInt32Array,
    words_to_double,
)
from tensorloom.kernels.host.random_distributions import box_muller_double

_Doubles = NDArray[np.float64]
_DEPTH: Final = 4  # blocks made for each sample at first


class _Words:
    """The blocks of one sample, as the doubles that distributions take from them."""

    def __init__(self, stream: Stream, first: UInt32Array) -> None:
        self._stream = stream
        self._blocks = first.reshape(-1, 4)
        self._next = 0
        self._uniforms: list[float] = []
        self._normals: list[float] = []

    def _block(self) -> UInt32Array:
        if self._next == len(self._blocks):
            more = self._stream.skip(self._next).blocks(self._next)
            self._blocks = np.concatenate([self._blocks, more])
        self._next += 1
        return self._blocks[self._next - 1 : self._next]

    def uniform(self) -> float:
        """The next uniform double; of the two in a block the second comes first."""
        if not self._uniforms:
            words = self._block().reshape(2, 2)
            self._uniforms = words_to_double(words[:, 0], words[:, 1]).tolist()
        return self._uniforms.pop()

    def normal(self) -> float:
        """The next normal double, likewise."""
        if not self._normals:
            sine, cosine = box_muller_double(self._block())
            self._normals = [float(sine[0]), float(cosine[0])]
        return self._normals.pop()


def _runs(stream: Stream, count: int) -> Iterator[_Words]:
    """The words of each of `count` samples."""
    first = stream.blocks(count, stride=SAMPLES_PER_OUTPUT, depth=_DEPTH)
    for index in range(count):
        yield _Words(stream.skip(index * SAMPLES_PER_OUTPUT), first[index])


def gamma(stream: Stream, alphas: _Doubles, samples: int) -> _Doubles:
    """Gamma(alpha, 1) samples [samples, alphas].

    Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. Words
    are numbered by alpha first, then by sample.
    """
    values = np.empty((len(alphas), samples))
    runs = _runs(stream, len(alphas) * samples)
    for row, alpha in zip(values, alphas.tolist(), strict=True):
        for index in range(samples):
            row[index] = _gamma_sample(next(runs), alpha)
    return values.T


def _gamma_sample(words: _Words, alpha: float) -> float:
    if alpha == 1.0:
        return -math.log(1.0 - words.uniform())
    # Below one, a sample for alpha + 1 is scaled down by a power of a uniform.
    small = alpha < 1
    d = alpha + (2.0 / 3 if small else -1.0 / 3)
    if not d > 0:
        return math.nan
    c = 1.0 / 3 / math.sqrt(d)
    while True:
        x = words.normal()
        v = 1 + c * x
        if v <= 0:
            continue
        v = v * v * v
        u = words.uniform()
        if u < 1 - 0.0331 * (x * x) * (x * x) or _log(u) < 0.5 * x * x + d * (
            1 - v + math.log(v)
        ):
            result = d * v
            return result * _power(words.uniform(), alpha) if small else result


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _power(base: float, alpha: float) -> float:
    """base ** (1 / alpha); an alpha that is no parameter of a gamma gives NaN."""
    return math.pow(base, 1 / alpha) if alpha > 0 else math.nan


def poisson(stream: Stream, rates: _Doubles, samples: int, highest: float) -> _Doubles:
    """Poisson(rate) samples [samples, rates], none above `highest`.

    Knuth's product of uniforms for small rates; for others the transformed rejection
    of Hoermann, "The transformed rejection method for generating Poisson random
    variables", 1993.
    """
    values = np.empty((len(rates), samples))
    runs = _runs(stream, len(rates) * samples)
    for row, rate in zip(values, rates.tolist(), strict=True):
        draw = _small_poisson if rate < 10 else _large_poisson
        for index in range(samples):
            row[index] = draw(next(runs), rate, highest)
    return values.T


def _small_poisson(words: _Words, rate: float, highest: float) -> float:
    limit = math.exp(-rate)
    product, count = 1.0, 0.0
    while True:
        product *= words.uniform()
        if product <= limit and count <= highest:
            return count
        count += 1


def _large_poisson(words: _Words, rate: float, highest: float) -> float:
    if not math.isfinite(rate):
        return math.nan
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u = words.uniform() - 0.5
        v = words.uniform()
        shifted = 0.5 - abs(u)
        if shifted == 0:
            continue
        k = math.floor((2 * a / shifted + b) * u + rate + 0.43)
        if k > highest:
            continue
        if shifted >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return k
        if k < 0 or (shifted < 0.013 and v > shifted):
            continue
        s = _log(v * inverse_alpha / (a / (shifted * shifted) + b))
        t = -rate + k * log_rate - math.lgamma(k + 1)
        if s <= t:
            return k


def highest_value(dtype: np.dtype[Any]) -> float:
    """The largest value of a number dtype, as a double."""
    if dtype.kind == "f":
        return float(np.finfo(dtype).max)
    return float(np.iinfo(dtype).max)
