"""Host kernels from strings to strings: case, strip, parts, joins."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from itertools import cycle, dropwhile
from typing import Any, TypeVar

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.indexing.stable_order import stable_order
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.strings.arrays import map_strings, to_strings
from tensorloom.kernels.host.strings.regular_expressions import to_bytes, to_text
from tensorloom.kernels.host.strings.spans import spans_of, strings_at

_Text = TypeVar("_Text", bytes, str)
# Fewer strings are treated one by one.
_FEW = 128
_WHITE_SPACE = np.zeros(256, np.bool_)
_WHITE_SPACE[[*b" \t\n\r\x0b\x0c"]] = True


@host_kernel("StringStrip", large=True)
def string_strip(c: OpKernelConstruction) -> Compute:
    """Without white space at the ends."""

    def compute(value: Any) -> Any:
        if value.size < _FEW:
            return map_strings(bytes.strip, value)
        from tensorloom.kernels.loops.strings import words

        spans = spans_of(value)
        words.strip(spans.blob, spans.starts, spans.lengths, _WHITE_SPACE)
        return spans.strings(value.shape)

    return compute


@host_kernel(["StringUpper", "StringLower"], large=True)
def string_case(c: OpKernelConstruction) -> Compute:
    """In upper or lower case."""
    upper = c.op == "StringUpper"
    encoding = c["encoding"]
    if encoding == b"":
        return _in_ascii(bytes.upper if upper else bytes.lower)
    if encoding != b"utf-8":
        raise invalid_argument(
            "only utf8 or '' (no encoding) is supported, "
            f"received {encoding.decode(errors='replace')}"
        )
    in_unicode = str.upper if upper else str.lower
    return lambda value: map_strings(lambda x: to_bytes(in_unicode(to_text(x))), value)


def _in_ascii(change: Callable[[bytes], bytes]) -> Compute:
    def compute(value: Any) -> Any:
        if value.size < _FEW:
            return map_strings(change, value)
        spans = spans_of(value)
        changed = np.frombuffer(change(spans.blob.tobytes()), np.uint8)
        return strings_at(changed, spans.starts, spans.lengths, value.shape)

    return compute


# --- parts -----------------------------------------------------------------------


@host_kernel("Substr", large=True)
def substr(c: OpKernelConstruction) -> Compute:
    """A part of each string, in bytes or in characters."""
    in_bytes = c["unit"] == b"BYTE"

    def compute(value: Any, position: Any, length: Any) -> Any:
        if np.size(position) != np.size(length):
            raise invalid_argument("pos and len should have the same shape")
        shape = value.shape
        if position.ndim or length.ndim:
            shape = _common_shape(value, position, length)
            value = np.broadcast_to(value, shape)
        texts = value.reshape(-1)
        begins, sizes = (_flat(x, shape) for x in (position, length))
        if len(texts) < _FEW:
            found = _few_parts(texts.tolist(), begins, sizes, in_bytes)
            if found is not None:
                return to_strings(found, shape)
        return _parts(texts, begins, sizes, in_bytes).reshape(shape)

    return compute


def _common_shape(value: Any, position: Any, length: Any) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(value.shape, position.shape, length.shape)
    except ValueError:
        raise invalid_argument(
            f"Incompatible shapes: {shape_text(np.shape(value))} vs. "
            f"{shape_text(np.shape(position))}"
        ) from None


def _flat(numbers: Any, shape: tuple[int, ...]) -> Any:
    """The positions or sizes of all parts, or the only one, int64."""
    if np.size(numbers) > 1:
        numbers = np.broadcast_to(numbers, shape)
    return np.ascontiguousarray(numbers, np.int64).reshape(-1)


def _few_parts(
    texts: list[bytes], begins: Any, sizes: Any, in_bytes: bool
) -> list[bytes] | None:
    """Parts of texts; None if one is not in its text, or a text is not in UTF-8."""
    if len(begins) == len(sizes) == 1 and texts:
        return _same_parts(texts, int(begins[0]), int(sizes[0]), in_bytes)
    every = zip(texts, cycle(begins.tolist()), cycle(sizes.tolist()), strict=False)
    try:
        if in_bytes:
            return [_part(*one) for one in every]
        # Of a negative size, a part in characters is empty.
        return [_part(t.decode(), begin, max(n, 0)).encode() for t, begin, n in every]
    except (IndexError, UnicodeDecodeError):
        return None


def _same_parts(
    texts: list[bytes], begin: int, size: int, in_bytes: bool
) -> list[bytes] | None:
    """As `_few_parts`, for one position and size."""
    if not in_bytes:
        if not b"".join(texts).isascii():
            return _character_parts(texts, begin, max(size, 0))
        size = max(size, 0)
    if min(map(len, texts)) < abs(begin):
        return None
    where = _slice(begin, size)
    return [text[where] for text in texts]


def _character_parts(texts: list[bytes], begin: int, size: int) -> list[bytes] | None:
    try:
        decoded = [text.decode() for text in texts]
    except UnicodeDecodeError:
        return None
    if min(map(len, decoded)) < abs(begin):
        return None
    where = _slice(begin, size)
    return [text[where].encode() for text in decoded]


def _slice(begin: int, size: int) -> slice:
    """A part of a text that has the place where it begins."""
    if size < 0 or begin < 0 <= begin + size:
        return slice(begin, None)
    return slice(begin, begin + size)


def _part(text: _Text, begin: int, size: int) -> _Text:
    if not -len(text) <= begin <= len(text):
        raise IndexError
    begin = begin % len(text) if begin < 0 else begin
    return text[begin : begin + size] if size >= 0 else text[begin:]


def _parts(texts: Any, begins: Any, sizes: Any, in_bytes: bool) -> Any:
    """An array of parts of texts [n].

    Raises:
      InvalidArgumentError: a part starts outside of its text.
    """
    from tensorloom.kernels.loops.strings import words

    spans = spans_of(texts)
    where = spans.starts, spans.lengths, begins, sizes
    if in_bytes:
        bad = words.parts_in_bytes(*where)
    else:
        bad = words.parts_in_characters(spans.blob, *where)
    if bad >= 0:
        shown = texts[bad].decode(errors="replace")
        begin = begins[bad % len(begins)]
        raise invalid_argument(
            f"pos {begin} out of range for string b'{shown}' at index {bad}"
        )
    return spans.strings()


# --- joins -----------------------------------------------------------------------


@host_kernel("ReduceJoin", large=True)
def reduce_join(c: OpKernelConstruction) -> Compute:
    """Strings along axes joined."""
    separator, keep = c["separator"], c["keep_dims"]

    def compute(value: Any, indices: Any) -> Any:
        axes = _normal_axes(np.reshape(indices, -1).tolist(), value.ndim)
        if not axes:
            return value
        rest = [i for i in range(value.ndim) if i not in axes]
        # The first axis given is joined first: it is the innermost.
        moved = value.transpose(*rest, *reversed(axes))
        shape = tuple(value.shape[i] for i in rest)
        count = int(np.prod(shape, dtype=np.int64))
        rows = moved.reshape(count, -1).tolist() if value.size else [[]] * count
        joined = list(map(separator.join, rows))
        if keep:
            shape = tuple(1 if i in axes else d for i, d in enumerate(value.shape))
        return to_strings(joined, shape)

    return compute


def _normal_axes(indices: list[int], rank: int) -> list[int]:
    axes: list[int] = []
    for index in indices:
        if not -rank <= index < rank:
            raise errors.OutOfRangeError(
                None,
                None,
                f"Invalid reduction dimension {index} for input with {rank} "
                "dimension(s)",
            )
        if index % rank in axes:
            raise invalid_argument(f"Duplicate reduction dimension {index % rank}")
        axes.append(index % rank)
    return axes


@host_kernel("UnsortedSegmentJoin", large=True)
def unsorted_segment_join(c: OpKernelConstruction) -> Compute:
    """The strings of each segment joined."""
    separator, device = c["separator"], c.device

    def compute(value: Any, ids: Any, count: Any) -> Any:
        ids, total = np.asarray(ids), int(count)
        if total < 0:
            raise invalid_argument("Number of segments must be non-negative")
        if not ids.ndim:
            raise invalid_argument("Segment_id cannot have rank 0")
        if value.shape[: ids.ndim] != ids.shape:
            raise invalid_argument(
                f"segment_ids must have the same shape as a prefix of inputs: "
                f"{shape_text(ids.shape)} vs. {shape_text(value.shape)}"
            )
        inner = value.shape[ids.ndim :]
        rows = value.reshape(ids.size, int(np.prod(inner, dtype=np.int64)))
        check_shape((total, *inner), dtypes.string, device)
        flat = ids.reshape(-1)
        bad = flat[(flat < 0) | (flat >= total)]
        if len(bad):
            raise invalid_argument(
                "segment_ids are not allowed to exceed num_segments or to have "
                f"negative values: {bad[0]}"
            )
        order, ends = stable_order(flat)[1], np.bincount(flat).cumsum().tolist()
        joined = np.full((total, rows.shape[1]), b"", object)
        for column, texts in enumerate(rows[order].T.tolist()):
            joined[: len(ends), column] = [
                _joined(separator, texts[begin:end])
                for begin, end in zip([0, *ends], ends, strict=False)
            ]
        return joined.reshape(total, *inner)

    return compute


def _joined(separator: bytes, texts: list[bytes]) -> bytes:
    """Texts with separators between them, but none behind empty ones in front."""
    if texts and not texts[0]:
        return separator.join(dropwhile(operator.not_, texts))
    return separator.join(texts)


# --- text for people --------------------------------------------------------------


@host_kernel("StringFormat", large=True)
def string_format(c: OpKernelConstruction) -> Compute:
    """Placeholders replaced by summaries."""
    from tensorloom.kernels.host.summary.tensor_summary import summarize_edges

    parts = c["template"].split(c["placeholder"])
    limit = c["summarize"]
    if len(parts) - 1 != len(c.input_types):
        raise invalid_argument(
            f"num placeholders in template and num inputs must match: "
            f"{len(parts) - 1} vs. {len(c.input_types)}"
        )

    def compute(*values: Any) -> Any:
        text = [parts[0]]
        for value, after in zip(values, parts[1:], strict=True):
            text += [summarize_edges(value, limit), after]
        return to_strings([b"".join(text)], ())

    return compute


@host_kernel("PrintV2", large=True)
def print_v2(c: OpKernelConstruction) -> Compute:
    """A text to a stream or a file."""
    stream, end = c["output_stream"].decode(), c["end"].decode()
    if stream not in ("stdout", "stderr") and not stream.startswith(
        ("log(", "file://")
    ):
        raise invalid_argument(
            f"Unknown output stream: {stream}, must be one of: stdout, stderr, "
            'log(info), log(warning), log(error), "file://<filename>"'
        )

    def compute(value: Any) -> None:
        text = value.item().decode(errors="replace") + end
        if stream.startswith("file://"):
            with open(stream[7:], "a", encoding="utf-8") as file:
                file.write(text)
            return
        out = sys.stdout if stream == "stdout" else sys.stderr
        out.write(text)
        out.flush()

    return compute
