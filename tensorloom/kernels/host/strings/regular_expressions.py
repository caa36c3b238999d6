"""Patterns in RE2's syntax, compiled by Python's `re`.

The syntaxes differ in few places, which are rewritten: `$` and `\\z` are the end of the
text, classes like `[[:alpha:]]` and `\\pL`, `\\Q...\\E`, flags in the middle. What RE2
refuses (backreferences, looking around) is refused.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache

from tensorloom.framework.errors import invalid_argument

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7F",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1F\\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_FLAGS = re.compile(r"\(\?([ims]*)(-[ims]+)?\)")
_QUOTE = re.compile(r"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)
_PROPERTY = re.compile(r"\\([pP])(?:([A-Z])|\{(\^?)([A-Za-z]+)\})")
_CLASS_NAME = re.compile(r"\[:(\^?)([a-z]+):\]")
_REPEATED = re.compile(r"(?:[*+?]|\{\d+,?\d*\})[*+]")


class _Refused(ValueError):
    """RE2 does not take the pattern."""


# What `to_text` makes of bytes that are not UTF-8. For RE2 they are no characters:
# neither `.` nor the complement of a class matches them.
_NO_CHARACTERS = "\\udc80-\\udcff"
_DAMAGED = re.compile("[\udc80-\udcff]")


@lru_cache(maxsize=1024)
def compile_pattern(pattern: bytes, damaged: bool = False) -> re.Pattern[str]:
    """The pattern for texts decoded as UTF-8 with `surrogateescape`.

    Args:
      damaged: for texts with bytes that are not UTF-8 (`is_damaged`), which match
        nothing. Other texts are matched faster by the simpler pattern.

    Raises:
      InvalidArgumentError: the pattern is not one of RE2's.
    """
    text = to_text(pattern)
    try:
        translated = _translate(text)
        if damaged:
            translated = _characters_only(translated)
        return re.compile(translated, re.ASCII)
    except (re.error, _Refused) as error:
        raise invalid_argument(f"Invalid pattern: {text}, error: {error}") from None


def is_damaged(text: str) -> bool:
    """Whether a text was decoded from bytes that are not UTF-8."""
    return not text.isascii() and _DAMAGED.search(text) is not None


_PIECE = re.compile(r"\\.|\[\^?(?:\\.|[^\]\\])*\]|\.|[^\\\[.]+", re.DOTALL)


def _characters_only(translated: str) -> str:
    """A pattern for Python that matches no bytes that are not UTF-8."""
    return "".join(map(_without_damage, _PIECE.findall(translated)))


def _without_damage(piece: str) -> str:
    if piece.startswith("[^"):
        return f"[^{_NO_CHARACTERS}{piece[2:]}"
    if piece == "." or (piece[0] == "[" and re.search(r"\\[DSW]", piece)):
        return f"(?:(?![{_NO_CHARACTERS}]){piece})"
    if piece in ("\\D", "\\S", "\\W"):
        return f"[^{_NO_CHARACTERS}{piece.lower()}]"
    return piece


# A character or a class, how often it comes, and groups that begin or end there.
_ATOM = re.compile(
    r"""(?:\((?!\?))*
        (?P<atom> [^\\\[\]().*+?{}|^$] | \. | \\[dDsSwWnrtfv.\\*+?()\[\]{}|^$]
           | \[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\[\]\\])*\] )
        (?P<times> [*+?]?)
        (?:\)\+?)*""",
    re.DOTALL | re.VERBOSE,
)


@lru_cache(maxsize=1024)
def _atoms(pattern: bytes) -> tuple[tuple[str, str], ...] | None:
    """(atom, how often) of each atom; None unless they stand one behind the other."""
    text, at, found = to_text(pattern), 0, []
    while at < len(text):
        match = _ATOM.match(text, at)
        if match is None or text[match.end() : match.end() + 1] in ("*", "?", "{"):
            return None
        found.append((match["atom"], match["times"]))
        at = match.end()
    return tuple(found)


def is_never_empty(pattern: bytes) -> bool:
    """Whether it is plain to see that a pattern matches no empty text."""
    return any(times in ("", "+") for _, times in _atoms(pattern) or ())


def never_matches(pattern: bytes, char: str) -> bool:
    """Whether it is plain to see that no match has a character in it."""
    atoms = _atoms(pattern)
    return atoms is not None and not any(
        compile_pattern(to_bytes(atom)).fullmatch(char) for atom, _ in atoms
    )


def to_text(value: bytes) -> str:
    """Text from bytes that need not be UTF-8; `to_bytes` gives them back."""
    return value.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """The bytes of a text."""
    return text.encode("utf-8", "surrogateescape")


def _translate(pattern: str) -> str:
    out: list[str] = []
    # For each open group: how many groups of flags are to be closed with it.
    pending, multiline, at = [0], [False], 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            piece, at = _escape(pattern, at, False)
        elif char == "[":
            piece, at = _class(pattern, at)
        elif char == "(":
            flags = _FLAGS.match(pattern, at)
            if flags:
                piece, at = flags[0][:-1] + ":", flags.end()
                pending[-1] += 1
                multiline[-1] = multiline[-1] or "m" in flags[1]
            else:
                _check_group(pattern, at)
                piece, at = char, at + 1
                pending.append(0)
                multiline.append(multiline[-1])
        elif char == ")":
            if len(pending) == 1:
                raise _Refused(f"unexpected ): {pattern}")
            piece, at = ")" * (pending.pop() + 1), at + 1
            multiline.pop()
        elif char == "$":
            piece, at = "$" if multiline[-1] else r"\Z", at + 1
        else:
            if _REPEATED.match(pattern, at):
                raise _Refused(f"bad repetition operator: {pattern[at : at + 2]}")
            piece, at = char, at + 1
        out.append(piece)
    return "".join(out) + ")" * pending[0]


def _check_group(pattern: str, at: int) -> None:
    head = pattern[at + 1 : at + 4]
    if head.startswith("?") and not re.match(r"\?(P<|[ims-]*:)", pattern[at + 1 :]):
        raise _Refused(f"invalid perl operator: ({head[:2]}")


def _escape(pattern: str, at: int, in_class: bool) -> tuple[str, int]:
    """(what Python takes for an escape, where it ends)."""
    following = pattern[at + 1 : at + 2]
    if not following:
        raise _Refused("trailing \\ at end of regexp: \\")
    if following in "pP" and (named := _PROPERTY.match(pattern, at)):
        negated = (named[1] == "P") != (named[3] == "^")
        ranges = _category(named[2] or named[4])
        if in_class and negated:
            ranges, negated = _complement(named[2] or named[4]), False
        text = ranges if in_class else f"[{'^' if negated else ''}{ranges}]"
        return text, named.end()
    if following == "Q" and (quoted := _QUOTE.match(pattern, at)):
        return re.escape(quoted[1]), quoted.end()
    if following == "z":
        return r"\Z", at + 2
    if following == "x" and (code := re.match(r"\\x\{([0-9A-Fa-f]+)\}", pattern[at:])):
        return re.escape(chr(int(code[1], 16))), at + code.end()
    if following in "123456789ZGkgR" and not in_class:
        raise _Refused(f"invalid escape sequence: \\{following}")
    return pattern[at : at + 2], at + 2


def _class(pattern: str, at: int) -> tuple[str, int]:
    """(a bracketed class for Python, where it ends)."""
    out, start = ["["], at
    at += 1
    if pattern[at : at + 1] == "^":
        out.append("^")
        at += 1
    first = at
    while at < len(pattern):
        char = pattern[at]
        named = _CLASS_NAME.match(pattern, at)
        if char == "]" and at > first:
            return "".join(out) + "]", at + 1
        if named:
            if named[2] not in _POSIX or named[1]:
                raise _Refused(f"invalid character class range: {named[0]}")
            piece, at = _POSIX[named[2]], named.end()
        elif char == "\\":
            piece, at = _escape(pattern, at, True)
        else:
            piece, at = ("\\" + char if char in "[]&~|" else char), at + 1
        out.append(piece)
    raise _Refused(f"missing ]: {pattern[start:]}")


@lru_cache(maxsize=64)
def _category(name: str, inverse: bool = False) -> str:
    """The characters of a Unicode category, as ranges for a class."""
    if name == "Any":
        name = ""
    ranges: list[str] = []
    start = None
    for code in range(sys.maxunicode + 2):
        inside = (
            code <= sys.maxunicode
            and unicodedata.category(chr(code)).startswith(name) != inverse
        )
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            ranges.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    if not ranges:
        raise _Refused(f"invalid character class range: \\p{{{name}}}")
    return "".join(ranges)


def _complement(name: str) -> str:
    return _category(name, True)
