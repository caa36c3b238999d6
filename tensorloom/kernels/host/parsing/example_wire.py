"""Columns of features, read from the bytes of a batch of Example messages."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.strings.spans import (
    Bytes,
    Ints,
    Spans,
    spans_of,
    strings_at,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.framework.types.dtypes import DType

# Tags of the parts of a SequenceExample; an Example has the first alone.
CONTEXT, FEATURE_LISTS = 0x0A, 0x12


class Irregular(Exception):
    """These bytes are not as a standard writer writes them."""


@dataclass
class Lists:
    """Lists of values: where they are, and of which kind."""

    blob: Bytes
    kinds: NDArray[np.uint8]
    begins: Ints
    ends: Ints

    def column(self, dtype: DType) -> tuple[NDArray[Any], Ints, NDArray[np.bool_]]:
        """(all values, how many each list has, which lists there are).

        Raises:
          Irregular: a list is of another dtype, or odd.
        """
        from tensorloom.kernels.loops.parsing import example_wire as wire

        kind = wire.BYTES
        if dtype in (dtypes.float32, dtypes.int64):
            kind = wire.FLOAT if dtype == dtypes.float32 else wire.INT64
        where = self.blob, self.kinds, self.begins, self.ends
        counts = np.empty(len(self.kinds), np.int64)
        total = wire.count_values(*where, kind, counts)
        if total < 0:
            raise Irregular
        values: Any
        if kind == wire.FLOAT:
            values = np.empty(total, np.float32)
            wire.read_floats(*where, values.view(np.uint32))
        elif kind == wire.INT64:
            values = np.empty(total, np.int64)
            wire.read_integers(*where, values)
        else:
            starts, lengths = np.empty((2, total), np.int64)
            wire.find_strings(*where, starts, lengths)
            values = strings_at(self.blob, starts, lengths)
        return values, counts, self.kinds != wire.MISSING


class Walk:
    """What a batch of messages has for some keys.

    Args:
      part: which part of the messages has the keys, `CONTEXT` or `FEATURE_LISTS`.
      only: whether they have no other part.
    """

    def __init__(
        self, texts: Spans, keys: Sequence[bytes], part: int, *, only: bool
    ) -> None:
        from tensorloom.kernels.loops.parsing import example_wire as wire

        self._blob = texts.blob
        count, own = len(texts.starts), _spans_of_keys(tuple(keys))
        self._begins, self._ends = np.empty((2, len(keys), count), np.int64)
        self._kinds = np.empty((len(keys), count), np.uint8)
        #: Which messages are not as a standard writer writes them.
        self.odd = np.empty(count, np.bool_)
        wire.find_values(
            *(self._blob, texts.starts, texts.lengths, part, only),
            *(own.blob, own.starts, own.lengths),
            *(self._begins, self._ends, self.odd),
        )
        if part == CONTEXT:
            wire.open_features(
                self._blob, self._begins, self._ends, self._kinds, self.odd
            )

    def lists(self, index: int) -> Lists:
        """The lists of a feature of the context, by the number of its key."""
        where = self._kinds[index], self._begins[index], self._ends[index]
        return Lists(self._blob, *where)

    def has(self, index: int) -> NDArray[np.bool_]:
        """Which messages have a feature list, by the number of its key."""
        found: NDArray[np.bool_] = self._begins[index] >= 0
        return found

    def steps(self, index: int) -> tuple[Lists, Ints]:
        """(the lists of its steps, how many steps each message has).

        Raises:
          Irregular: a feature list is odd.
        """
        from tensorloom.kernels.loops.parsing import example_wire as wire

        begins, ends = self._begins[index], self._ends[index]
        counts = np.empty(len(begins), np.int64)
        total = wire.count_steps(self._blob, begins, ends, counts)
        if total < 0:
            raise Irregular
        steps, odd = np.empty((2, 1, total), np.int64), np.zeros(total, np.bool_)
        kinds = np.empty((1, total), np.uint8)
        wire.find_steps(self._blob, begins, ends, steps[0, 0], steps[1, 0])
        wire.open_features(self._blob, steps[0], steps[1], kinds, odd)
        if odd.any():
            raise Irregular
        return Lists(self._blob, kinds[0], *steps[:, 0]), counts


# The keys are mostly those of the step before.
@functools.lru_cache(64)
def _spans_of_keys(keys: tuple[bytes, ...]) -> Spans:
    return spans_of(keys)
