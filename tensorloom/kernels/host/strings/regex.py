"""Host kernels of regular expressions, over many texts at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.host.strings.regular_expressions import (
    compile_pattern,
    is_damaged,
    is_never_empty,
    never_matches,
    to_bytes,
    to_text,
)

if TYPE_CHECKING:
    import re

# One of these stands between texts that are decoded, or searched, together.
_SEPARATORS = (b"\0", b"\n")


def _joined(texts: list[bytes], separator: bytes) -> bytes | None:
    """The texts with a separator in between; None if it also stands in one of them."""
    blob = separator.join(texts)
    return blob if blob.count(separator) == len(texts) - 1 else None


def _decoded(texts: list[bytes]) -> tuple[list[str], bool]:
    """(the texts, whether one of them is damaged), decoded in one go if possible."""
    for separator in _SEPARATORS:
        blob = _joined(texts, separator)
        if blob is not None:
            text = to_text(blob)
            return text.split(separator.decode()), is_damaged(text)
    decoded = [to_text(text) for text in texts]
    return decoded, any(map(is_damaged, decoded))


def _encoded(texts: list[str]) -> list[bytes]:
    """The bytes of texts, encoded in one go if possible."""
    blob = "\0".join(texts)
    if blob.count("\0") == len(texts) - 1:
        return to_bytes(blob).split(b"\0")
    return [to_bytes(text) for text in texts]


class _Rewrite(NamedTuple):
    """What a match becomes."""

    pieces: list[str | int]  # texts, and numbers of groups

    def template(self) -> str:
        """The same for Python."""
        return "".join(
            piece.replace("\\", r"\\") if isinstance(piece, str) else rf"\g<{piece}>"
            for piece in self.pieces
        )

    def of(self, match: re.Match[str]) -> str:
        """The text of a match."""
        return "".join(p if isinstance(p, str) else match[p] or "" for p in self.pieces)


def _replaced(
    texts: list[bytes], pattern: bytes, rewrite: bytes, everywhere: bool
) -> list[bytes]:
    compiled = compile_pattern(pattern)
    pieces = _rewrite_pieces(to_text(rewrite))
    if pieces is None or any(p > compiled.groups for p in pieces if isinstance(p, int)):
        # RE2 leaves the text as it is when it cannot make the new one.
        return texts
    new = _Rewrite(pieces)
    if everywhere and is_never_empty(pattern):
        together = _replaced_together(texts, pattern, new)
        if together is not None:
            return together
    decoded, damaged = _decoded(texts)
    used = compile_pattern(pattern, True) if damaged else compiled
    count = 0 if everywhere else 1
    if is_never_empty(pattern):
        template = new.template()
        return _encoded([used.sub(template, text, count) for text in decoded])
    return _encoded([_replaced_one(used, new, text, count) for text in decoded])


def _replaced_together(
    texts: list[bytes], pattern: bytes, new: _Rewrite
) -> list[bytes] | None:
    """All texts in one search; None if a match could go beyond the end of one."""
    for separator in _SEPARATORS:
        if not never_matches(pattern, separator.decode()):
            continue
        blob = _joined(texts, separator)
        if blob is None:
            continue
        text = to_text(blob)
        used = compile_pattern(pattern, is_damaged(text))
        found = to_bytes(_substituted(used, new, text)).split(separator)
        if len(found) == len(texts):  # else there are some in the new texts
            return found
    return None


def _substituted(pattern: re.Pattern[str], new: _Rewrite, text: str) -> str:
    """The text with new matches; none of the pattern's is empty."""
    groups = [piece for piece in new.pieces if isinstance(piece, int)]
    if not groups or 0 in groups:
        return pattern.sub(new.template(), text)
    # Python takes a template apart for each match; this goes by the list.
    split = pattern.split(text)
    step = pattern.groups + 1
    columns: list[Sequence[str | None]] = [split[::step]]
    count = len(columns[0]) - 1
    for piece in new.pieces:
        if isinstance(piece, int):
            columns.append(split[piece::step])
        else:
            columns.append([piece] * count)
    parts: list[Any] = [""] * (len(columns) * (count + 1))
    for i, column in enumerate(columns):
        parts[i : i + len(columns) * len(column) : len(columns)] = column
    return "".join([part or "" for part in parts])


def _replaced_one(
    pattern: re.Pattern[str], rewrite: _Rewrite, text: str, count: int
) -> str:
    last_end = -1

    def new(match: re.Match[str]) -> str:
        nonlocal last_end
        # RE2 has no empty match right behind another one; Python has.
        start, end = match.span()
        if start == end == last_end:
            return ""
        last_end = end
        return rewrite.of(match)

    return pattern.sub(new, text, count)


def _rewrite_pieces(rewrite: str) -> list[str | int] | None:
    """Texts and group numbers; None when an escape is neither digit nor backslash."""
    pieces: list[str | int] = []
    at = 0
    while at < len(rewrite):
        if rewrite[at] != "\\":
            end = rewrite.find("\\", at)
            end = len(rewrite) if end < 0 else end
            pieces.append(rewrite[at:end])
            at = end
            continue
        escaped = rewrite[at + 1 : at + 2]
        if escaped == "\\":
            pieces.append("\\")
        elif escaped in set("0123456789"):
            pieces.append(int(escaped))
        else:
            return None
        at += 2
    return pieces


def _mapped(function: Callable[[list[bytes]], list[bytes]], value: Any) -> Any:
    """An array of strings of what a function makes of a list of all."""
    array = np.asarray(value)
    if not array.size:
        return array
    return to_strings(function(array.reshape(-1).tolist()), array.shape)


@host_kernel("StaticRegexReplace", large=True)
def static_regex_replace(c: OpKernelConstruction) -> Compute:
    """Matches of a fixed pattern replaced."""
    rule = c["pattern"], c["rewrite"], c["replace_global"]
    compile_pattern(c["pattern"])
    return lambda value: _mapped(lambda texts: _replaced(texts, *rule), value)


@host_kernel("RegexReplace", large=True)
def regex_replace(c: OpKernelConstruction) -> Compute:
    """Matches of a pattern replaced."""
    everywhere = c["replace_global"]

    def compute(value: Any, pattern: Any, rewrite: Any) -> Any:
        _check_scalar("Pattern", pattern)
        _check_scalar("Rewrite", rewrite)
        rule = pattern.item(), rewrite.item(), everywhere
        compile_pattern(rule[0])
        return _mapped(lambda texts: _replaced(texts, *rule), value)

    return compute


def _check_scalar(what: str, value: Any) -> None:
    if value.ndim:
        raise invalid_argument(
            f"{what} must be scalar, but received {shape_text(value.shape)}"
        )


def _full_match(pattern: bytes, value: Any) -> Any:
    compiled = compile_pattern(pattern)
    if not value.size:
        return np.zeros(value.shape, np.bool_)
    texts, damaged = _decoded(value.reshape(-1).tolist())
    used = compile_pattern(pattern, True) if damaged else compiled
    found = np.fromiter(map(used.fullmatch, texts), np.bool_, len(texts))
    return found.reshape(value.shape)[()]


@host_kernel("StaticRegexFullMatch", large=True)
def static_regex_full_match(c: OpKernelConstruction) -> Compute:
    """Whether a fixed pattern matches."""
    pattern = c["pattern"]
    compile_pattern(pattern)
    return lambda value: _full_match(pattern, value)


@host_kernel("RegexFullMatch", large=True)
def regex_full_match(c: OpKernelConstruction) -> Compute:
    """Whether a pattern matches."""

    def compute(value: Any, pattern: Any) -> Any:
        _check_scalar("Pattern", pattern)
        return _full_match(pattern.item(), value)

    return compute
