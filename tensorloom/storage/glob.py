"""Patterns of paths, as TensorFlow matches them: `*`, `?`, `[a-z]`, `[!a]`, `\\*`.

None of them matches a `/`; `*` matches a leading dot. `**` is no more than `*`.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from tensorloom.framework import errors

if TYPE_CHECKING:
    from tensorloom.storage.filesystem import FileSystem

_MAGIC = re.compile(r"[*?\[\\]")


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
    first = at + 1 if text[at : at + 1] in ("!", "^") else at
    return max(text.find("]", first + 1), 0)


def _class(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    if negated:
        inside = inside[1:]
    parts, at = [], 0
    while at < len(inside):
        low = inside[at]
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
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
    from tensorloom.storage.filesystem import parent, scheme_of

    if not pattern:
        return []
    scheme = scheme_of(pattern)
    start = len(scheme) + 3 if scheme else 0
    magic = _MAGIC.search(pattern, start)
    fixed = parent(pattern[: magic.start()] if magic else pattern)
    if not scheme and not fixed:
        fixed, rest = ".", pattern
    else:
        rest = pattern[len(fixed) :].lstrip("/") if fixed != "/" else pattern[1:]
    if not files.is_directory(fixed):
        if files.exists(fixed):
            raise errors.FailedPreconditionError(
                None, None, f"{fixed}; Not a directory"
            )
        raise errors.NotFoundError(None, None, f"{fixed}; No such file or directory")
    return sorted(_expand(files, fixed, [c for c in rest.split("/") if c]))


def _expand(files: FileSystem, directory: str, components: list[str]) -> list[str]:
    if not components:
        return [directory]
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
