"""How candidate samplers draw classes, with TensorFlow's numbers.

A step of a sampler owns a long run of words and uses the beginning of it. A `Draws`
turns words into classes, many at once; which of them are new is a compiled loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import InvalidArgumentError, invalid_argument

if TYPE_CHECKING:
    from tensorloom.kernels.host.random.philox import Stream, UInt32Array

_Classes = NDArray[np.int64]
_Counts = NDArray[np.float32]
# TensorFlow aborts the process then.
_MOST_TRIES: Final = 1 << 31
_MOST_AT_ONCE: Final = 1 << 20


class Draws(Protocol):
    """A distribution over classes as a function of words."""

    words: int  # how many words one draw usually takes

    def classes(self, words: UInt32Array) -> tuple[_Classes, int]:
        """The classes that the words give, and how many words were used."""


def sample(
    draws: Draws, stream: Stream, count: int, unique: bool
) -> tuple[_Classes, int]:
    """`count` classes in the order of drawing, and the number of draws.

    Args:
      unique: whether they are all different. The caller makes sure that there are so
        many.

    Raises:
      InvalidArgumentError: more than 2**31 draws do not suffice.
    """
    from tensorloom.kernels.loops.nn import samplers

    taken = np.empty(count, np.int64)
    table = np.full(_table_size(count), -1) if unique else None
    found = tries = first = 0
    # Some more than needed if every draw counts, for those that come again.
    usual = count + count // 4 + 8
    while found < count:
        words = np.empty(-(-draws.words * usual // 4) * 4, np.uint32)
        samplers.fill_words(*stream.skip(first // 4).halves(), words)
        classes, used = draws.classes(words[first % 4 :])
        if table is not None:
            found, looked = samplers.take_distinct(classes, table, taken, found)
        else:
            looked = min(len(classes), count - found)
            taken[found : found + looked] = classes[:looked]
            found += looked
        tries, first = tries + looked, first + used
        usual = min(2 * usual, _MOST_AT_ONCE)
        if tries >= _MOST_TRIES:
            raise _too_many(count)
    return taken, tries


def log_uniform_sampler(
    bound: int, count: int, unique: bool
) -> Callable[[Stream, _Classes], tuple[_Classes, int, _Counts, _Counts]]:
    """What draws `count` classes below a bound whose logarithm is uniform.

    It takes a stream and true classes [m, n], and gives the classes in the order of
    drawing, the number of draws, and how often true and drawn ones are in a sample.

    Raises:
      InvalidArgumentError: see `sample`.
    """
    from tensorloom.kernels.loops.nn import samplers

    size = _table_size(count) if unique else 0

    def draw(stream: Stream, true: _Classes) -> tuple[_Classes, int, _Counts, _Counts]:
        sampled, counts = np.empty(count, np.int64), np.empty(count, np.float32)
        true_counts = np.empty(true.shape, np.float32)
        tries = samplers.sample_log_uniform(
            *stream.halves(),
            bound,
            _MOST_TRIES,
            np.empty(size, np.int64),
            sampled,
            counts,
            np.ascontiguousarray(true),
            true_counts,
        )
        if tries >= _MOST_TRIES:
            raise _too_many(count)
        return sampled, tries, true_counts, counts

    return draw


def _table_size(count: int) -> int:
    """Of a table of the loops for so many classes."""
    return 1 << (2 * count).bit_length()


def _too_many(count: int) -> InvalidArgumentError:
    return invalid_argument(
        f"{_MOST_TRIES} draws did not give {count} different classes"
    )


class UniformDraws:
    """Integers below a bound without bias, from pairs of words."""

    words = 2

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


class AliasDraws:
    """Classes by Walker's alias table: a float and an index, of one word each."""

    words = 2

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
