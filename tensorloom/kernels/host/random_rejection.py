"""Gamma and Poisson samples by rejection, as TensorFlow's kernels draw them.

Every sample reads its own run of words, so that results do not depend on how the work
is split. Rejection makes the number of words differ from sample to sample. The first
attempts of all samples are array operations; the few samples that need more are drawn
by a short Python loop over a few blocks that are made together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.kernels.host.libm import logarithms, polar
from tensorloom.kernels.host.philox import (
    SAMPLES_PER_OUTPUT,
    Stream,
    UInt32Array,
    words_to_double,
)
from tensorloom.kernels.host.random_distributions import (
    box_muller_double,
    polar_double,
)

_Doubles = NDArray[np.float64]
_TOGETHER: Final = 1 << 14  # samples drawn by the same array operations
_MANY: Final = 32  # fewer are drawn one by one
_DEPTH: Final = 2  # blocks made for each sample at first
_ATTEMPTS: Final = 4  # of samples together, before they are drawn one by one


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


_Draw = Callable[[_Words, float], float]
_DrawMany = Callable[[Stream, UInt32Array, _Doubles], Any]


def _drawn(
    stream: Stream, parameters: _Doubles, samples: int, draw: _DrawMany
) -> _Doubles:
    """[samples, parameters]; `draw` gets the samples' first blocks and parameters."""
    values = np.empty(len(parameters) * samples)
    for begin in range(0, values.size, _TOGETHER):
        end = min(begin + _TOGETHER, values.size)
        start = stream.skip(begin * SAMPLES_PER_OUTPUT)
        words = start.blocks(end - begin, stride=SAMPLES_PER_OUTPUT, depth=_DEPTH)
        own = parameters[np.arange(begin, end) // samples]
        values[begin:end] = draw(start, words, own)
    return values.reshape(len(parameters), samples).T


def _redraw(
    values: Any,
    rejected: Any,
    stream: Stream,
    words: UInt32Array,
    parameters: _Doubles,
    draw: _Draw,
) -> Any:
    """The values, those that were rejected each drawn from its first word on."""
    for i in np.flatnonzero(rejected).tolist():
        run = _Words(stream.skip(i * SAMPLES_PER_OUTPUT), words[i])
        values[i] = draw(run, float(parameters[i]))
    return values


def _mapped(function: Callable[[float], float], values: _Doubles) -> _Doubles:
    """A function of the C library of each value: NumPy's round otherwise."""
    few, places = np.unique(values, return_inverse=True)
    return np.array([function(value) for value in few.tolist()])[places]


def _none(words: UInt32Array) -> Any:
    """No sample is drawn yet: (values, which are rejected)."""
    return np.empty(len(words)), np.ones(len(words), bool)


def _uniforms(words: UInt32Array) -> tuple[_Doubles, _Doubles]:
    """What `_Words.uniform` takes first and second of blocks [n, 4]."""
    first = words_to_double(words[:, 2], words[:, 3])
    return first, words_to_double(words[:, 0], words[:, 1])


def gamma(stream: Stream, alphas: _Doubles, samples: int) -> _Doubles:
    """Gamma(alpha, 1) samples [samples, alphas].

    Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. Words
    are numbered by alpha first, then by sample.
    """
    return _drawn(stream, alphas, samples, _gammas)


def _gammas(stream: Stream, words: UInt32Array, alphas: _Doubles) -> Any:
    """As `_gamma_sample` for each sample."""
    small = alphas < 1
    d = alphas + np.where(small, 2.0 / 3, -1.0 / 3)
    values, rejected = _none(words)
    if len(words) >= _MANY:
        is_one = alphas == 1.0
        ones = np.flatnonzero(is_one)
        values[ones] = -logarithms(1.0 - _uniforms(words[ones, :4])[0])
        rejected[ones] = False
        pending = np.flatnonzero((d > 0) & ~is_one)
        run = _Attempts(stream, words)
        for attempt in range(_ATTEMPTS):
            if not len(pending):
                break
            some = small[pending]
            x, u, scale = run.draw(pending, attempt, bool(some.any()))
            here = d[pending]
            v = 1 + 1.0 / 3 / np.sqrt(here) * x
            regular = v > 0  # otherwise the next attempt takes this one's uniform
            v = v * v * v
            with np.errstate(all="ignore"):
                tail = np.log(u) < 0.5 * x * x + here * (1 - v + np.log(v))
            accepted = regular & ((u < 1 - 0.0331 * (x * x) * (x * x)) | tail)
            found = here * v
            scaled = np.flatnonzero(accepted & some)
            if len(scaled):
                bases, powers = scale[scaled], alphas[pending[scaled]]
                found[scaled] *= list(map(_power, bases.tolist(), powers.tolist()))
            values[pending[accepted]] = found[accepted]
            rejected[pending[accepted]] = False
            pending = pending[regular & ~accepted]
    return _redraw(values, rejected, stream, words, alphas, _gamma_sample)


class _Attempts:
    """What the first attempts at gamma samples draw, while none skips its uniform.

    Two attempts share two blocks: the first has the two normals, the second the two
    uniforms.
    """

    def __init__(self, stream: Stream, words: UInt32Array) -> None:
        self._stream = stream
        self._words = words
        # The second normal of each sample's block.
        self._second = np.empty(0)

    def draw(self, samples: Any, attempt: int, more: bool) -> tuple[Any, Any, Any]:
        """(normals, uniforms, the uniforms that are next if `more` are wanted)."""
        first, is_second = attempt // 2 * 2, attempt % 2
        u = _uniforms(self._block(samples, first + 1))
        if not is_second:
            sine, cosine = polar(*polar_double(self._block(samples, first)))
            self._second = np.empty(len(self._words))
            self._second[samples] = sine
            return cosine, *u
        scale = _uniforms(self._block(samples, first + 2))[0] if more else None
        return self._second[samples], u[1], scale

    def _block(self, samples: Any, number: int) -> UInt32Array:
        return _block(self._stream, self._words, samples, number)


def _block(
    stream: Stream, words: UInt32Array, samples: Any, number: int
) -> UInt32Array:
    """The block of this number of some samples, [n, 4]; the first ones are `words`."""
    if 4 * number < words.shape[1]:
        return words[samples, 4 * number : 4 * number + 4]
    places = samples.astype(np.uint64) * np.uint64(SAMPLES_PER_OUTPUT)
    return stream.planes_at(places + np.uint64(number)).T


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

    def draw(start: Stream, words: UInt32Array, own: _Doubles) -> Any:
        return _poissons(start, words, own, highest)

    # A negative rate is as zero, as in TensorFlow.
    rates = np.maximum(rates, 0)
    return _drawn(stream, rates, samples, draw)


def _poissons(
    stream: Stream, words: UInt32Array, rates: _Doubles, highest: float
) -> Any:
    """As `_poisson_sample` for each sample."""
    values, rejected = _none(words)
    if len(words) >= _MANY:
        is_small = rates < 10
        small = np.flatnonzero(is_small)
        _small_poissons(values, stream, words, small, rates, highest)
        rejected[small] = False
        large = np.flatnonzero(~is_small & np.isfinite(rates))
        left = _large_poissons(values, stream, words, large, rates, highest)
        rejected[large] = False
        rejected[left] = True
    return _redraw(
        values,
        rejected,
        stream,
        words,
        rates,
        lambda run, rate: _poisson_sample(run, rate, highest),
    )


def _small_poissons(
    values: _Doubles,
    stream: Stream,
    words: UInt32Array,
    pending: Any,
    rates: _Doubles,
    highest: float,
) -> None:
    """Fills the places `pending` of `values` as `_small_poisson` does."""
    limit = _mapped(lambda rate: math.exp(-rate), rates[pending])
    product, count = np.ones(len(pending)), 0
    while len(pending):
        first, second = _uniforms(_block(stream, words, pending, count // 2))
        first *= product
        second *= first
        goes_on = (first > limit) | (count > highest)
        values[pending] = count + goes_on
        goes_on &= (second > limit) | (count + 1 > highest)
        rest = np.flatnonzero(goes_on)
        pending, product, limit = pending[rest], second[rest], limit[rest]
        count += 2


def _large_poissons(
    values: _Doubles,
    stream: Stream,
    words: UInt32Array,
    pending: Any,
    rates: _Doubles,
    highest: float,
) -> Any:
    """As `_small_poissons`, the larger ones; returns the places that are not filled."""
    for attempt in range(_ATTEMPTS):
        if not len(pending):
            break
        uniforms = _uniforms(_block(stream, words, pending, attempt))
        found, accepted = _large_attempt(uniforms, rates[pending])
        accepted &= found <= highest
        values[pending[accepted]] = found[accepted]
        pending = pending[~accepted]
    return pending


def _large_attempt(
    uniforms: tuple[_Doubles, _Doubles], rates: _Doubles
) -> tuple[Any, Any]:
    """One attempt of each sample at a Poisson value: (values, which are accepted)."""
    first, v = uniforms
    b = 0.931 + 2.53 * np.sqrt(rates)
    a = -0.059 + 0.02483 * b
    u = first - 0.5
    shifted = 0.5 - np.abs(u)
    with np.errstate(all="ignore"):
        values = np.floor((2 * a / shifted + b) * u + rates + 0.43)
    accepted = (shifted >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
    # One of ten is not accepted so quickly.
    possible = (shifted > 0) & (values >= 0) & ((shifted >= 0.013) | (v <= shifted))
    rest = np.flatnonzero(possible & ~accepted)
    rate, b, near = rates[rest], b[rest], shifted[rest]
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    ratios = v[rest] * inverse_alpha / (a[rest] / (near * near) + b)
    accepted[rest] = [
        _log(ratio) <= -rate + k * log_rate - math.lgamma(k + 1)
        for ratio, k, rate, log_rate in zip(
            ratios.tolist(),
            values[rest].tolist(),
            rate.tolist(),
            _mapped(math.log, rate).tolist(),
            strict=True,
        )
    ]
    return values, accepted


def _poisson_sample(words: _Words, rate: float, highest: float) -> float:
    sample = _small_poisson if rate < 10 else _large_poisson
    return sample(words, rate, highest)


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
