"""`tensorflow.python.util.tf_stack`: the frames of this thread, cheap to record."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

# What stands where in a converted frame.
TB_FILENAME: Final = 0
TB_LINENO: Final = 1
TB_FUNCNAME: Final = 2
TB_CODEDICT: Final = 3


class StackFrame(NamedTuple):
    """One frame; the text of its line is read when it is converted."""

    filename: str
    lineno: int
    name: str
    globals: dict[str, Any] | None
    func_start_lineno: int


def extract_stack(limit: int | None = -1) -> list[StackFrame]:
    """The caller's frames, the innermost last.

    Args:
      limit: how many at most, counted from the innermost; all if it is negative or
        None.
    """
    frame = sys._getframe(1)
    found: list[StackFrame] = []
    while frame is not None and len(found) != limit:
        code = frame.f_code
        found.append(
            StackFrame(
                code.co_filename,
                frame.f_lineno,
                code.co_name,
                frame.f_globals,
                code.co_firstlineno,
            )
        )
        frame = frame.f_back  # type: ignore[assignment]
    return found[::-1]


def convert_stack(
    stack: Iterable[StackFrame], include_func_start_lineno: bool = False
) -> tuple[tuple[Any, ...], ...]:
    """(file, line number, function, text of the line) of each frame.

    `include_func_start_lineno` adds the line number at which the function begins.
    """
    converted = []
    for frame in stack:
        linecache.checkcache(frame.filename)
        text = linecache.getline(frame.filename, frame.lineno, frame.globals)
        made = (frame.filename, frame.lineno, frame.name, text.strip() or None)
        start = (frame.func_start_lineno,) if include_func_start_lineno else ()
        converted.append((*made, *start))
    return tuple(converted)
