"""How candidate samplers draw classes: many at a time, with TensorFlow's numbers.

A step of a sampler owns a long run of words and uses the beginning of it. The samples
of several steps are made together (`SamplesAhead`), because a block of Philox costs the
same for forty counters as for a thousand, and a loop that the processor has just run
half of what it costs among other kernels. A `Draws` turns words into classes, all of
them at once (of several steps too, where each draw takes the same number of words);
only what no vector can tell (which class comes a second time) is a loop.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tensorloom.kernels.host.philox import Stream, UInt32Array, words_to_double

_Classes = NDArray[np.int64]
# Counters made in one go: about 60 us of work.
_COUNTERS_AHEAD: Final = 1024
# Where NumPy's exp may differ from the C library's in the last bits.
_EXP_ERROR: Final = 1e-14


class Draws(Protocol):
    """A distribution over classes as a function of words."""

    words: int  # how many words one draw usually takes
    # Each draw takes exactly so many words.
    is_regular: bool
    # The same words give the same classes in every step.
    is_fixed: bool

    def classes(self, words: UInt32Array) -> tuple[_Classes, int]:
        """The classes that the words give, and how many words were used."""


class SamplesAhead:
    """What each step samples, made for several steps at a time.

    Args:
      draws: what turns words into classes. If it is not fixed, only words are made
        ahead.
      stride: counters from the start of one step's stream to the next.
      count: how many classes are in a sample.
      unique: whether they are all different.
      fresh: where words come from that need not be TensorFlow's.
    """

    def __init__(
        self,
        draws: Draws,
        stride: int,
        count: int,
        unique: bool,
        fresh: np.random.Generator | None = None,
    ) -> None:
        self._draws = draws
        self._stride = stride
        self._count = count
        self._unique = unique
        self._fresh = fresh
        # Some more than needed if every draw counts, for those that come again.
        usual = count + count // 4 + 8
        self._depth = min(-(-draws.words * usual // 4), stride)
        self._steps = max(1, _COUNTERS_AHEAD // self._depth)
        # Samples, or the words for them, of several steps. One value, replaced as a
        # whole: steps may run at the same time.
        self._made: tuple[int, Sequence[Any]] | None = None

    def sample(self, stream: Stream) -> tuple[_Classes, int]:
        """A step's classes in the order of drawing, and the number of draws."""
        made = self._of_step(stream)
        return made if self._draws.is_fixed else self._draw(made, stream)

    def _of_step(self, stream: Stream) -> Any:
        if self._made is not None:
            start, made = self._made
            step, rest = divmod(stream.start - start, self._stride)
            if not rest and 0 <= step < self._steps:
                return made[step]
        made = self._make(stream)
        self._made = stream.start, made
        return made[0]

    def _make(self, stream: Stream) -> Sequence[Any]:
        rows = self._first_words(stream)
        if not self._draws.is_fixed:
            return list(rows)
        made: Sequence[Any] = (None,) * self._steps
        if self._draws.is_regular:
            rows = self._draws.classes(rows.reshape(-1))[0].reshape(self._steps, -1)
            if self._unique:
                made = draw_from_rows(rows, self._count)
        return [
            sample or self._draw(row, stream.skip(i * self._stride))
            for i, (sample, row) in enumerate(zip(made, rows, strict=True))
        ]

    def _first_words(self, stream: Stream) -> NDArray[Any]:
        if self._fresh is not None:
            return self._fresh.integers(
                0, 1 << 32, (self._steps, 4 * self._depth), np.uint32
            )
        return stream.blocks(self._steps, stride=self._stride, depth=self._depth)

    def _draw(self, first: NDArray[Any], stream: Stream) -> tuple[_Classes, int]:
        return draw(self._parts(first, stream), self._count, self._unique)

    def _parts(self, first: NDArray[Any], stream: Stream) -> Iterator[_Classes]:
        """The classes of a step, in parts that grow.

        Args:
          first: its first words; their classes if draws are fixed and regular.
        """
        draws = self._draws
        if draws.is_fixed and draws.is_regular:
            yield first
            for words in self._later_words(stream):
                yield draws.classes(words)[0]
            return
        left = np.empty(0, np.uint32)
        for block in itertools.chain((first,), self._later_words(stream)):
            words = np.concatenate([left, block]) if len(left) else block
            classes, used = draws.classes(words)
            left = words[used:]
            yield classes

    def _later_words(self, stream: Stream) -> Iterator[UInt32Array]:
        done = depth = self._depth
        while True:
            yield stream.skip(done).words(4 * depth)
            done += depth
            depth *= 2


def draw(parts: Iterator[_Classes], count: int, unique: bool) -> tuple[_Classes, int]:
    """`count` classes in the order of drawing, and the number of draws."""
    picked: dict[int, None] = {}
    taken: list[_Classes] = []
    found = tries = 0
    for classes in parts:
        if not unique:
            taken.append(classes)
            found += len(classes)
            if found >= count:
                sampled = taken[0] if len(taken) == 1 else np.concatenate(taken)
                return sampled[:count].copy(), count
            continue
        candidates = classes.tolist()
        # So many draws are needed in any case; only then each new one can be the last.
        sure = candidates[: count - len(picked)]
        picked.update(dict.fromkeys(sure))
        tries += len(sure)
        for candidate in candidates[len(sure) :]:
            if len(picked) == count:
                break
            tries += 1
            picked[candidate] = None
        if len(picked) == count:
            return np.fromiter(picked, np.int64, count), tries
    raise AssertionError("the stream has no end")


def draw_from_rows(rows: _Classes, count: int) -> list[tuple[_Classes, int] | None]:
    """What `draw` makes of each row, where it finds `count` different classes there.

    For all rows at once; a loop over the classes of each takes five times as long.

    Args:
      rows: classes from 0 on, [steps, draws].
    """
    draws = rows.shape[1]
    bits = draws.bit_length()
    if int(rows.max()) >> (63 - bits):
        return [None] * len(rows)
    # A class and its place in one number: sorted, draws of a class stand together, the
    # first one in front.
    keys = np.sort((rows << bits) | np.arange(draws))
    classes = keys >> bits
    row, behind = np.nonzero(classes[:, 1:] == classes[:, :-1])
    is_new = np.ones(rows.shape, np.bool_)
    is_new[row, keys[row, behind + 1] & ((1 << bits) - 1)] = False
    found = is_new.cumsum(1)
    suffices = found[:, -1] >= count
    wanted = is_new & (found <= count) & suffices[:, np.newaxis]
    samples = iter(rows[wanted].reshape(-1, count))
    tries = ((found < count).sum(1) + 1).tolist()
    return [
        (next(samples), tries[i]) if enough else None
        for i, enough in enumerate(suffices.tolist())
    ]


class UniformDraws:
    """Integers below a bound without bias, from pairs of words."""

    words = 2
    is_regular = False
    is_fixed = True

    def __init__(self, bound: int) -> None:
        self._bound = np.uint64(bound)
        self._is_power = bound & (bound - 1) == 0
        self._unwanted = np.uint64((2**64 - 1) % bound + 1 if not self._is_power else 0)

    def classes(self, words: UInt32Array) -> tuple[_Classes, int]:
        """One class for a pair of words; pairs that would bias are passed over."""
        pairs = np.ascontiguousarray(words[: len(words) // 2 * 2])
        values = pairs.view("<u8")
        if not self._is_power:
            values = values[values >= self._unwanted]
        return (values % self._bound).astype(np.int64), len(pairs)


class LogUniformDraws:
    """Classes whose logarithm is uniform."""

    words = 2
    is_regular = True
    is_fixed = True

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._log_range = math.log1p(bound)

    def classes(self, words: UInt32Array) -> tuple[_Classes, int]:
        """One class for a pair of words."""
        used = len(words) // 2 * 2
        exponents = words_to_double(words[0:used:2], words[1:used:2]) * self._log_range
        values = np.exp(exponents)
        # Beside an integer the last bit decides: there the C library is asked.
        close = np.abs(values - np.rint(values)) <= _EXP_ERROR * values
        for i in np.flatnonzero(close).tolist():
            values[i] = math.exp(exponents[i])
        return (values.astype(np.int64) - 1) % self._bound, used


class AliasDraws:
    """Classes by Walker's alias table: a float and an index, of one word each."""

    words = 2
    is_regular = False
    is_fixed = True

    def __init__(self, share: list[float], other: list[int]) -> None:
        self._share = np.array(share, np.float32)
        self._other = np.array(other, np.int64)
        size = len(share)
        self._size = np.uint32(size)
        is_power = size & (size - 1) == 0
        self._unwanted = np.uint32(0 if is_power else (2**32 - 1) % size + 1)

    def classes(self, words: UInt32Array) -> tuple[_Classes, int]:
        """One class for two words, or more where an index is drawn again."""
        used = len(words) // 2 * 2
        units, rest = words[0:used:2], words[1:used:2]
        if (rest < self._unwanted).any():
            units, rest, used = self._with_rejections(words.tolist())
        unit = (units & np.uint32(0x7FFFFF)).astype(np.float32) / np.float32(8388608.0)
        index = (rest % self._size).astype(np.int64)
        return np.where(unit < self._share[index], index, self._other[index]), used

    def _with_rejections(
        self, words: list[int]
    ) -> tuple[UInt32Array, UInt32Array, int]:
        units: list[int] = []
        indices: list[int] = []
        used = position = 0
        while position + 1 < len(words):
            unit, position = words[position], position + 1
            while position < len(words) and words[position] < self._unwanted:
                position += 1
            if position == len(words):
                break
            units.append(unit)
            indices.append(words[position])
            position += 1
            used = position
        return np.array(units, np.uint32), np.array(indices, np.uint32), used


class WeightedDraws:
    """Classes by integer weights that may change between steps."""

    words = 1
    is_regular = False
    is_fixed = False

    def __init__(self, range_max: int) -> None:
        self.weights: NDArray[np.int64] = np.ones(range_max, np.int64)
        self._sums: NDArray[np.int64] | None = None

    @property
    def total(self) -> int:
        """The sum of the weights."""
        return int(self.sums[-1])

    @property
    def sums(self) -> NDArray[np.int64]:
        """The running sums of the weights."""
        if self._sums is None:
            self._sums = np.cumsum(self.weights)
        return self._sums

    def add(self, classes: NDArray[Any]) -> None:
        """One more for each class; classes out of range are passed over."""
        flat = classes.reshape(-1)
        inside = flat[(flat >= 0) & (flat < len(self.weights))]
        np.add.at(self.weights, inside, 1)
        self._sums = None

    def classes(self, words: UInt32Array) -> tuple[_Classes, int]:
        """One class for a word; words that would bias are passed over."""
        total = self.total
        if total & (total - 1):
            unwanted = (2**32 - 1) % total + 1
            kept = words[words >= np.uint32(unwanted)]
        else:
            kept = words
        points = (kept % np.uint32(total)).astype(np.int64)
        return np.searchsorted(self.sums, points, side="right"), len(words)
