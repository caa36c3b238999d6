"""Binomial samples, as TensorFlow's kernel draws them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tensorloom.kernels.host.philox import words_to_double

if TYPE_CHECKING:
    from tensorloom.kernels.host.philox import Stream

# The difference of log(k!) and Stirling's formula, k = 0 ... 9.
_STIRLING: Final = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.0104112652619720,
    0.00925546218271273,
    0.00833056343336287,
)
_FOR_REJECTION: Final = 10  # successes to expect, from which BTRS is better
_AHEAD: Final = 8  # blocks that are made together


class Uniforms:
    """Doubles of a stream; of the two in a block the second comes first."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._used = 0
        self._blocks: list[list[float]] = []
        self._left: list[float] = []

    def next(self) -> float:
        """The next double."""
        if not self._left:
            if not self._blocks:
                words = self._stream.skip(self._used).blocks(_AHEAD).reshape(-1, 2, 2)
                doubles = words_to_double(words[..., 0], words[..., 1])
                self._blocks = doubles.tolist()[::-1]
            self._left = self._blocks.pop()
            self._used += 1
        return self._left.pop()

    def drop_rest(self) -> None:
        """Begins the next sample, which takes a block of its own."""
        self._left = []


def binomial_sample(uniforms: Uniforms, count: float, chance: float) -> float:
    """How many of `count` trials succeed; a chance above 1/2 is that of failing."""
    if math.isnan(chance) or math.isnan(count):
        return math.nan
    mirrored = chance > 0.5
    p = 1 - chance if mirrored else chance
    draw = _by_rejection if count * p >= _FOR_REJECTION else _by_inversion
    value = draw(uniforms, count, p)
    uniforms.drop_rest()
    return count - value if mirrored else value


def blocks_per_sample(count: float, chance: float) -> int:
    """The blocks that the stateless op reserves for a sample, by its method."""
    return 256 if count * min(chance, 1 - chance) >= _FOR_REJECTION else 42


def _by_inversion(uniforms: Uniforms, count: float, p: float) -> float:
    """Counts geometric variables until their sum exceeds the trials."""
    total, number = 0.0, 0.0
    if count <= 0 or p <= 0:
        return 0.0
    scale = math.log1p(-p) if p < 1 else -math.inf
    while True:
        u = uniforms.next()
        total += math.ceil(math.log(u) / scale) if u > 0 else math.inf
        if total > count:
            return number
        number += 1


def _by_rejection(uniforms: Uniforms, count: float, p: float) -> float:
    """Hoermann, "The generation of binomial random variates", 1993: BTRS."""
    deviation = math.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = count * p + 0.5
    v_r = 0.92 - 4.2 / b
    r = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    m = math.floor((count + 1) * p)
    while True:
        u = uniforms.next() - 0.5
        v = uniforms.next()
        us = 0.5 - abs(u)
        if us <= 0:
            continue
        k = float(math.floor((2 * a / us + b) * u + c))
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or k > count:
            continue
        ratio = v * alpha / (a / (us * us) + b)
        bound = (
            (m + 0.5) * math.log((m + 1) / (r * (count - m + 1)))
            + (count + 1) * math.log((count - m + 1) / (count - k + 1))
            + (k + 0.5) * math.log(r * (count - k + 1) / (k + 1))
            + _tail(m)
            + _tail(count - m)
            - _tail(k)
            - _tail(count - k)
        )
        if (math.log(ratio) if ratio > 0 else -math.inf) <= bound:
            return k


def _tail(k: float) -> float:
    if k <= 9:
        return _STIRLING[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
