"""Host kernels that split strings, and that of n-grams."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.parsing.example_columns import ragged_indices, sparse_shape
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.host.strings.spans import Ints, Spans, in_each_byte, spans_of
from tensorloom.kernels.host.strings.unicode import check_splits

_Splitter = Callable[[bytes], list[bytes]]
_BYTES = np.fromiter((bytes([byte]) for byte in range(256)), object, 256)
_WHITE_SPACE = b" \t\n\r\x0b\x0c"
# Less text than that is split without the loops.
_LEAST_TEXTS, _LEAST_BYTES = 16, 2000

# --- splitting --------------------------------------------------------------------


def _sparse(rows: list[list[bytes]]) -> tuple[Any, Any, Any]:
    """(indices, values, shape) of rows of different lengths."""
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    words = [word for row in rows for word in row]
    values = to_strings(words, (len(words),))
    return ragged_indices(counts), values, sparse_shape(counts)


def _split_everywhere(value: Any) -> tuple[Any, Any, Any]:
    """Each byte of all texts is a word."""
    texts = value.tolist()
    counts = np.fromiter(map(len, texts), np.int64, len(texts))
    values = _BYTES[np.frombuffer(b"".join(texts), np.uint8)]
    return ragged_indices(counts), values, sparse_shape(counts)


@dataclass
class Words(Spans):
    """The words of some texts, in their order."""

    counts: Ints  # how many each text has


class _Rule(NamedTuple):
    """How texts are split at single bytes."""

    separators: bytes  # at any of these
    empty: int  # which empty words count, by `kernels/loops/strings/words.py`

    def words(self, texts: Any) -> Words:
        """Those of an array of strings."""
        from tensorloom.kernels.loops.strings import words

        given, counts = spans_of(texts), np.empty(len(texts), np.int64)
        where = given.blob, given.starts, given.lengths
        rule = in_each_byte(self.separators), self.empty
        size = len(given.blob)
        # Few texts have so many words; of all, there is at most one for each byte.
        for room in (size // 4 + 2 * len(texts), size + len(texts)):
            starts, lengths = np.empty((2, room), np.int64)
            count = words.find_words(*where, *rule, starts, lengths, counts)
            if count >= 0:
                break
        return Words(given.blob, starts[:count], lengths[:count], counts)


_SKIP_EMPTY, _KEEP_INSIDE, _KEEP_EMPTY = 0, 1, 2


def _is_large(texts: Any) -> bool:
    if len(texts) >= _LEAST_TEXTS:
        return True
    return sum(map(len, texts.tolist())) >= _LEAST_BYTES


class Split:
    """The StringSplit op: at any byte of the delimiter; at every byte if empty."""

    def __init__(self, skip_empty: bool) -> None:
        self.skip_empty = skip_empty

    def spans(self, value: Any, delimiter: Any) -> Words | None:
        """Where the words are; None if they are few, or each byte is one.

        Raises:
          InvalidArgumentError: the inputs are no vector and no scalar.
        """
        at = _separator(value, delimiter, "delimiter")
        if not at or not _is_large(value):
            return None
        # TensorFlow gives no word for an empty text.
        return _Rule(at, _SKIP_EMPTY if self.skip_empty else _KEEP_INSIDE).words(value)

    def sparse(self, value: Any, delimiter: Any) -> tuple[Any, Any, Any]:
        """(indices, words, shape). Raises as `spans`."""
        spans = self.spans(value, delimiter)
        if spans is not None:
            return _outputs(spans)
        at = delimiter.item()
        if not at:
            return _split_everywhere(value)
        split = _splitter(at)
        rows = [split(text) if text else [] for text in value.tolist()]
        if self.skip_empty:
            rows = [list(filter(None, row)) for row in rows]
        return _sparse(rows)


def _separator(value: Any, separator: Any, name: str) -> bytes:
    if value.ndim != 1:
        raise invalid_argument(
            f"input must be a vector, got shape: {shape_text(value.shape)}"
        )
    if separator.ndim:
        raise invalid_argument(
            f"{name} must be a scalar, got shape: {shape_text(separator.shape)}"
        )
    return separator.item()  # type: ignore[no-any-return]


def _outputs(spans: Words) -> tuple[Any, Any, Any]:
    counts = spans.counts
    return ragged_indices(counts), spans.strings(), sparse_shape(counts)


@host_kernel("StringSplit", large=True)
def string_split(c: OpKernelConstruction) -> Compute:
    """Split at any byte of the delimiter; at every byte when it is empty."""
    return Split(c["skip_empty"]).sparse


def _splitter(delimiter: bytes) -> _Splitter:
    if len(delimiter) == 1:
        return lambda text: text.split(delimiter)
    pattern = re.compile(b"[" + re.escape(delimiter) + b"]")
    return pattern.split


class SplitV2:
    """The StringSplitV2 op: Python's bytes.split."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def spans(self, value: Any, separator: Any) -> Words | None:
        """Where the words are; None if they are few, or no single byte separates them.

        Raises:
          InvalidArgumentError: the inputs are no vector and no scalar.
        """
        at = _separator(value, separator, "sep")
        if self.limit >= 0 or len(at) > 1 or not _is_large(value):
            return None
        rule = _Rule(at, _KEEP_EMPTY) if at else _Rule(_WHITE_SPACE, _SKIP_EMPTY)
        return rule.words(value)

    def sparse(self, value: Any, separator: Any) -> tuple[Any, Any, Any]:
        """(indices, words, shape). Raises as `spans`."""
        spans = self.spans(value, separator)
        if spans is not None:
            return _outputs(spans)
        texts, at, limit = value.tolist(), separator.item(), self.limit
        if at or limit < 0:
            return _sparse([text.split(at or None, limit) for text in texts])
        return _sparse([_split_spaces(text, limit) for text in texts])


@host_kernel("StringSplitV2", large=True)
def string_split_v2(c: OpKernelConstruction) -> Compute:
    """Split as Python's bytes.split."""
    return SplitV2(c["maxsplit"]).sparse


def _split_spaces(text: bytes, limit: int) -> list[bytes]:
    """At most `limit` words, and the rest even when it is empty, unlike Python's."""
    if limit == 0:
        return [text]
    words = text.split(None, limit)
    return [*words, b""] if len(words) == limit else words


# --- n-grams ----------------------------------------------------------------------


@host_kernel("StringNGrams", large=True)
def string_ngrams(c: OpKernelConstruction) -> Compute:
    """Neighbouring strings of each row joined, for each of the widths."""
    widths, separator = list(c["ngram_widths"]), c["separator"]
    left, right, most = c["left_pad"], c["right_pad"], c["pad_width"]
    keep_short = c["preserve_short_sequences"]

    def pad(width: int) -> int:
        return width - 1 if most < 0 else min(most, width - 1)

    # A row that is too short for all widths gives one gram of all it has.
    before, behind = [left] * most, [right] * most

    def compute(data: Any, splits: Any) -> tuple[Any, Any]:
        if len(splits):
            check_splits(splits.tolist(), len(data))
        sizes = np.diff(splits)
        rows = [_Grams(sizes, width, pad(width)) for width in widths]
        counts = sum([x.counts for x in rows], np.zeros(len(sizes), np.int64))
        short = np.zeros(0, np.int64)
        if keep_short:
            short = np.flatnonzero((counts == 0) & (sizes > 0))
            counts[short] = 1
        ends = np.append(0, np.cumsum(counts))
        found = np.empty(ends[-1], object)
        begins = ends[:-1]
        for x in rows:
            found[x.places(begins)] = x.join(data, left, right, separator)
            begins = begins + x.counts
        for row in short.tolist():
            words = data[splits[row] : splits[row + 1]].tolist()
            found[ends[row]] = separator.join(before + words + behind)
        return found, ends[: len(splits)].astype(splits.dtype)

    return compute


class _Grams:
    """The n-grams of one width of rows with so many words."""

    def __init__(self, sizes: Any, width: int, pad: int) -> None:
        self._sizes, self._width, self._pad = sizes, width, pad
        # How many each row has.
        self.counts = np.maximum(sizes + 2 * pad - width + 1, 0)

    def places(self, begins: Any) -> Any:
        """Where the grams are put if those of each row begin there."""
        return _counting(begins, self.counts)

    def join(self, words: Any, left: bytes, right: bytes, separator: bytes) -> Any:
        """All grams."""
        padded = words
        sizes = self._sizes + 2 * self._pad
        begins = np.cumsum(sizes) - sizes
        if self._pad:
            padded = np.full(int(sizes.sum()), right, object)
            padded[_counting(begins, np.full(len(sizes), self._pad))] = left
            padded[_counting(begins + self._pad, self._sizes)] = words
        first = _counting(begins, self.counts)
        columns = [padded.take(first + i).tolist() for i in range(self._width)]
        joined = list(map(separator.join, zip(*columns, strict=True)))
        return to_strings(joined, (len(joined),))


def _counting(begins: Any, counts: Any) -> Any:
    """From each number on so many numbers."""
    before = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(begins - before, counts)
