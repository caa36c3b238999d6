"""Patterns of paths, as TensorFlow matches them: `*`, `?`, `[a-z]`, `[!a]`, `\\*`.

None of them matches a `/`; `*` matches a leading dot. `**` is no more than `*`. What a
directory lists is matched, so `.`, `..` and an empty name match nothing: neither
`a//*` nor `a/` finds anything.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

from tensorloom.framework import errors
from tensorloom.storage.files.paths import parent, scheme_of

if TYPE_CHECKING:
    from tensorloom.storage.files.filesystem_interface import FileSystem

_MAGIC: Final = re.compile(r"[*?\[\\]")
_NAMED_CLASS: Final = re.compile(r"\[:([a-z]+):\]")
# `[:alpha:]` and its kin within `[...]`, of ASCII.
_NAMED_CLASSES: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \t",
    "cntrl": "\0-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": " \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_NEVER_LISTED: Final = ("", ".", "..")


@functools.lru_cache(256)
def component_pattern(text: str) -> re.Pattern[str]:
    """The regular expression of one component of a pattern."""
    result, at = [], 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "*":
            result.append("[^/]*")
        elif char == "?":
            result.append("[^/]")
        elif char == "\\" and at < len(text):
            result.append(re.escape(text[at]))
            at += 1
        elif char == "[" and (end := _class_end(text, at)):
            result.append(_class(text[at:end]))
            at = end + 1
        else:
            result.append(re.escape(char))
    return re.compile("".join(result), re.DOTALL)


def _class_end(text: str, at: int) -> int:
    """Where `]` ends the class that begins at `at`; 0 if it does not end."""
    at += text[at : at + 1] in ("!", "^")
    first = at
    while at < len(text):
        if text[at] == "]" and at > first:
            return at
        named = _NAMED_CLASS.match(text, at)
        at = named.end() if named else at + 1
    return 0


def _class(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    if negated:
        inside = inside[1:]
    parts, at = [], 0
    while at < len(inside):
        low = inside[at]
        named = _NAMED_CLASS.match(inside, at)
        if named and named[1] in _NAMED_CLASSES:
            parts.append(_NAMED_CLASSES[named[1]])
            at = named.end()
        elif inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            high = inside[at + 2]
            if low <= high:
                parts.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 3
        else:
            parts.append(re.escape(low))
            at += 1
    if not parts:
        return "[^/]" if negated else "(?!)"
    return f"(?!/)[{'^' if negated else ''}{''.join(parts)}]"


def match_paths(files: FileSystem, pattern: str) -> list[str]:
    """The paths that match, sorted.

    Raises:
      NotFoundError: the directory before the first special character is not there.
      FailedPreconditionError: it is a file.
    """
    if not pattern:
        return []
    scheme = scheme_of(pattern)
    start = len(scheme) + 3 if scheme else 0
    magic = _MAGIC.search(pattern, start)
    fixed = parent(pattern[: magic.start()] if magic else pattern)
    if not scheme and not fixed:
        fixed, rest = ".", pattern
    else:
        # Without the slash that follows the directory.
        rest = (
            pattern[len(fixed) :] if fixed.endswith("/") else pattern[len(fixed) + 1 :]
        )
    if not files.is_directory(fixed):
        if files.exists(fixed):
            raise errors.FailedPreconditionError(
                None, None, f"{fixed}; Not a directory"
            )
        raise errors.NotFoundError(None, None, f"{fixed}; No such file or directory")
    components = rest.split("/")
    if any(component in _NEVER_LISTED for component in components):
        return []
    return sorted(_expand(files, fixed, components))


def _expand(files: FileSystem, directory: str, components: list[str]) -> list[str]:
    head, *rest = components
    prefix = directory if directory.endswith("/") else directory + "/"
    if not _MAGIC.search(head):
        path = prefix + head
        if rest:
            return _expand(files, path, rest) if files.is_directory(path) else []
        return [path] if files.exists(path) else []
    matches = component_pattern(head).fullmatch
    names = [name for name in files.list_directory(directory) if matches(name)]
    if not rest:
        return [prefix + name for name in names]
    return [
        path
        for name in names
        if files.is_directory(prefix + name)
        for path in _expand(files, prefix + name, rest)
    ]
