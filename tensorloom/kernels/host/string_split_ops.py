"""Host kernels that split strings, and those of character encodings and n-grams."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host import string_spans
from tensorloom.kernels.host.example_columns import ragged_indices, sparse_shape
from tensorloom.kernels.host.math_ops_errors import shape_text
from tensorloom.kernels.host.string_arrays import map_strings, to_strings
from tensorloom.kernels.host.unicode_scripts import script_ranges

if TYPE_CHECKING:
    from tensorloom.kernels.host.string_spans import Spans

_Splitter = Callable[[bytes], list[bytes]]
_BYTES = np.fromiter((bytes([byte]) for byte in range(256)), object, 256)
_WHITE_SPACE = b" \t\n\r\x0b\x0c"

# --- splitting --------------------------------------------------------------------


def _sparse(rows: list[list[bytes]]) -> tuple[Any, Any, Any]:
    """(indices, values, shape) of rows of different lengths."""
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    words = [word for row in rows for word in row]
    return _outputs(words, counts)


def _outputs(words: list[bytes], counts: Any) -> tuple[Any, Any, Any]:
    values = to_strings(words, (len(words),))
    return ragged_indices(counts), values, sparse_shape(counts)


def _split_at_any(texts: list[bytes], separators: bytes) -> tuple[Any, Any, Any]:
    """All texts split in one go at runs of some bytes, without empty words."""
    first, spans = separators[:1], string_spans.split_at_any(texts, separators)
    # Without what stands before the first text, and behind the last.
    blob = spans.blob[1 : len(spans.blob) - string_spans.PADDING]
    return _outputs(list(filter(None, blob.split(first))), spans.counts)


def _split_everywhere(texts: list[bytes]) -> tuple[Any, Any, Any]:
    """Each byte of all texts is a word."""
    counts = np.fromiter(map(len, texts), np.int64, len(texts))
    values = _BYTES[np.frombuffer(b"".join(texts), np.uint8)]
    return ragged_indices(counts), values, sparse_shape(counts)


def _split_at_each(texts: list[bytes], separator: bytes) -> tuple[Any, Any, Any]:
    """All texts split at a byte in one go, with empty words."""
    words = separator.join(texts).split(separator)
    counts = [text.count(separator) + 1 for text in texts]
    return _outputs(words, np.array(counts, np.int64))


class Split:
    """The StringSplit op: at any byte of the delimiter; at every byte if empty."""

    def __init__(self, skip_empty: bool) -> None:
        self.skip_empty = skip_empty

    def spans(self, value: Any, delimiter: Any) -> Spans | None:
        """Where the words are, if one pass over all texts can tell.

        Raises:
          InvalidArgumentError: the inputs are no vector and no scalar.
        """
        texts, at = _inputs(value, delimiter, "delimiter")
        if self.skip_empty and at and texts:
            return string_spans.split_at_any(texts, at)
        return None

    def sparse(self, value: Any, delimiter: Any) -> tuple[Any, Any, Any]:
        """(indices, words, shape). Raises as `spans`."""
        texts, at = _inputs(value, delimiter, "delimiter")
        if self.skip_empty and at and texts:
            return _split_at_any(texts, at)
        if not at:
            return _split_everywhere(texts)
        split = _splitter(at)
        # TensorFlow gives no word for an empty text.
        return _sparse([split(text) if text else [] for text in texts])


def _inputs(value: Any, separator: Any, name: str) -> tuple[list[bytes], bytes]:
    if value.ndim != 1:
        raise invalid_argument(
            f"input must be a vector, got shape: {shape_text(value.shape)}"
        )
    if separator.ndim:
        raise invalid_argument(
            f"{name} must be a scalar, got shape: {shape_text(separator.shape)}"
        )
    return value.tolist(), separator.item()


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

    def spans(self, value: Any, separator: Any) -> Spans | None:
        """Where the words are, if one pass over all texts can tell.

        Raises:
          InvalidArgumentError: the inputs are no vector and no scalar.
        """
        texts, at = _inputs(value, separator, "sep")
        if self.limit >= 0 or not texts or len(at) > 1:
            return None
        if at:
            return string_spans.split_at_each(texts, at)
        return string_spans.split_at_any(texts, _WHITE_SPACE)

    def sparse(self, value: Any, separator: Any) -> tuple[Any, Any, Any]:
        """(indices, words, shape). Raises as `spans`."""
        limit = self.limit
        texts, at = _inputs(value, separator, "sep")
        if limit < 0 and texts and not at:
            return _split_at_any(texts, _WHITE_SPACE)
        if limit < 0 and texts and len(at) == 1:
            return _split_at_each(texts, at)
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


# --- encodings --------------------------------------------------------------------

_CODECS = {
    "UTF-8": "utf-8",
    "UTF-16-BE": "utf-16-be",
    "UTF-32-BE": "utf-32-be",
}


def replacement_code(c: OpKernelConstruction) -> int:
    """The code point that stands for what is not one.

    Raises:
      InvalidArgumentError: it is none itself.
    """
    code: int = c["replacement_char"]
    if not 0 <= code <= 0x10FFFF:
        raise invalid_argument("replacement_char out of unicode codepoint range")
    return code


class _Decoder:
    """Decodes strings by the attrs of the Unicode ops."""

    def __init__(self, c: OpKernelConstruction) -> None:
        self.encoding = c["input_encoding"].decode()
        self.mode = c["errors"]
        self.replacement = replacement_code(c)
        self.controls = c["replace_control_characters"]
        try:
            "".encode(self.encoding)
        except LookupError:
            raise invalid_argument(
                f"Could not create converter for input encoding: {self.encoding}"
            ) from None

    def plain(self, texts: list[bytes]) -> list[str] | None:
        """The texts, if nothing in them is to be replaced."""
        if self.controls:
            return None
        try:
            return [text.decode(self.encoding) for text in texts]
        except UnicodeDecodeError:
            return None

    def characters(self, text: bytes) -> Iterator[tuple[int, int]]:
        """(code point, byte at which it starts) of each character."""
        at = 0
        while at < len(text):
            try:
                good = text[at:].decode(self.encoding)
                bad = 0
            except UnicodeDecodeError as error:
                good = text[at : at + error.start].decode(self.encoding)
                bad = error.end - error.start
            for char in good:
                code = ord(char)
                if self.controls and (code < 32 or 127 <= code < 160):
                    code = self.replacement
                yield code, at
                at += len(char.encode(self.encoding))
            if bad:
                if self.mode == b"strict":
                    raise invalid_argument(
                        "Invalid formatting on input string: "
                        + text.decode("utf-8", "replace")
                    )
                if self.mode == b"replace":
                    yield self.replacement, at
                at += bad


@host_kernel(["UnicodeDecode", "UnicodeDecodeWithOffsets"], large=True)
def unicode_decode(c: OpKernelConstruction) -> Compute:
    """Code points as a ragged matrix."""
    decoder = _Decoder(c)
    with_offsets = c.op == "UnicodeDecodeWithOffsets"
    splits_type = c["Tsplits"].as_numpy_dtype

    def compute(value: Any) -> tuple[Any, ...]:
        texts = value.reshape(-1).tolist()
        splits = np.zeros(len(texts) + 1, splits_type)
        plain = None if with_offsets else decoder.plain(texts)
        if plain is not None:
            splits[1:] = np.cumsum([len(text) for text in plain])
            codes = np.frombuffer("".join(plain).encode("utf-32-le"), "<i4")
            return splits, codes.astype(np.int32)  # a copy, that can be written to
        rows = [list(decoder.characters(x)) for x in texts]
        splits[1:] = np.cumsum([len(row) for row in rows])
        codes = np.array([code for row in rows for code, _ in row], np.int32)
        if not with_offsets:
            return splits, codes
        starts = np.array([at for row in rows for _, at in row], np.int64)
        return splits, codes, starts

    return compute


@host_kernel("UnicodeTranscode", large=True)
def unicode_transcode(c: OpKernelConstruction) -> Compute:
    """Strings in another encoding."""
    decoder = _Decoder(c)
    codec = _CODECS[c["output_encoding"].decode()]

    def transcode(text: bytes) -> bytes:
        codes = [code for code, _ in decoder.characters(text)]
        return "".join(map(chr, codes)).encode(codec)

    return lambda value: map_strings(transcode, value)


@host_kernel("UnicodeEncode", large=True)
def unicode_encode(c: OpKernelConstruction) -> Compute:
    """Strings from a ragged matrix of code points."""
    codec = _CODECS[c["output_encoding"].decode()]
    mode, replacement = c["errors"], chr(replacement_code(c))

    def char(code: int) -> str:
        if 0 <= code <= 0x10FFFF and not 0xD800 <= code < 0xE000:
            return chr(code)
        if mode == b"strict":
            raise invalid_argument(
                "Code point is out of range for Unicode, or a noncharacter."
            )
        return replacement if mode == b"replace" else ""

    def compute(values: Any, splits: Any) -> Any:
        ends = splits.tolist()
        _check_splits(ends, len(values))
        chars = [char(code) for code in values.tolist()]
        texts = [
            "".join(chars[start:end]).encode(codec) for start, end in pairwise(ends)
        ]
        return to_strings(texts, (len(texts),))

    return compute


def _check_splits(splits: list[int], count: int) -> None:
    if not splits or splits[0] != 0 or splits[-1] != count:
        raise invalid_argument(
            "Values in input_splits must be equal or in ascending order, from 0 to "
            f"the number of values ({count})"
        )
    if any(a > b for a, b in pairwise(splits)):
        raise invalid_argument(
            "Values in input_splits must be equal or in ascending order."
        )


# --- n-grams ----------------------------------------------------------------------


@host_kernel("StringNGrams", large=True)
def string_ngrams(c: OpKernelConstruction) -> Compute:
    """Neighbouring strings of each row joined, for each of the widths."""
    widths, separator = list(c["ngram_widths"]), c["separator"]
    left, right, most = c["left_pad"], c["right_pad"], c["pad_width"]
    keep_short = c["preserve_short_sequences"]

    def grams(row: list[bytes], width: int) -> list[bytes]:
        pad = width - 1 if most < 0 else min(most, width - 1)
        padded = [left] * pad + row + [right] * pad
        return [
            separator.join(padded[i : i + width])
            for i in range(len(padded) - width + 1)
        ]

    def of_row(row: list[bytes]) -> list[bytes]:
        found = [gram for width in widths for gram in grams(row, width)]
        if not found and keep_short and row:
            # One gram as wide as the padded row is.
            width = len(row) + 2 * max(most, 0)
            return grams(row, width)
        return found

    def compute(data: Any, splits: Any) -> tuple[Any, Any]:
        ends, words = splits.tolist(), data.tolist()
        if ends:
            _check_splits(ends, len(words))
        rows = [of_row(words[a:b]) for a, b in pairwise(ends)]
        new_splits = np.zeros(len(ends), splits.dtype)
        new_splits[1:] = np.cumsum([len(row) for row in rows])
        flat = [gram for row in rows for gram in row]
        return to_strings(flat, (len(flat),)), new_splits

    return compute


@host_kernel("UnicodeScript", large=True)
def unicode_script(c: OpKernelConstruction) -> Compute:
    """The script of each code point."""

    def compute(codes: Any) -> Any:
        starts, scripts = script_ranges()
        values = np.asarray(codes)
        found = scripts[np.searchsorted(starts, values, side="right") - 1]
        return np.where((values < 0) | (values > 0x10FFFF), np.int32(-1), found)[()]

    return compute
