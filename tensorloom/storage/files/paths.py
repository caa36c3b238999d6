"""The text of paths of any scheme: joining, directories, absolute paths."""

from __future__ import annotations

import os
import re
from typing import Any

Path = Any  # str, bytes or os.PathLike

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def is_scheme(text: str) -> bool:
    """Whether a text can stand before `://`."""
    return _SCHEME.fullmatch(f"{text}://") is not None


def path_text(path: Path) -> str:
    """A path as text. Raises TypeError when it is none."""
    if isinstance(path, str):
        return path
    if not isinstance(path, bytes | os.PathLike):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return os.fsdecode(path)


def scheme_of(path: Path) -> str:
    """`"s3"` of `"s3://bucket/x"`; `""` for a path without a scheme."""
    match = _SCHEME.match(path_text(path))
    return match[1] if match else ""


def join(path: str, *names: str) -> str:
    """Joins names to a path of any scheme."""
    return os.path.join(path, *names)


def parent(path: Path) -> str:
    """The directory of a path; the root of a store is its own."""
    text = path_text(path)
    match = _SCHEME.match(text)
    start = match.end() if match else 0
    return text[:start] + os.path.dirname(text[start:])


def is_absolute(path: Path) -> bool:
    """Whether a path means the same in every working directory."""
    text = path_text(path)
    return bool(_SCHEME.match(text)) or os.path.isabs(text)


def absolute(path: Path) -> str:
    """The same path in every working directory; those with a scheme are so already."""
    text = path_text(path)
    return text if _SCHEME.match(text) else os.path.abspath(text)
