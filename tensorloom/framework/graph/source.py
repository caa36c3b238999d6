"""Where in the user's program something was made: cheap to record, costly to print.

A stack is recorded as (code object, instruction offset) pairs, which costs about a
microsecond; file names and line numbers are worked out on demand.
"""

from __future__ import annotations

import linecache
import os
import sys
from bisect import bisect_right
from pathlib import Path
from types import CodeType, FrameType

PACKAGE_DIR = str(Path(os.path.abspath(__file__)).parents[2]) + os.sep

# Enough to see how the user's code came there; deeper frames are the runner's.
MAX_FRAMES = 12

Stack = tuple[tuple[CodeType, int], ...]

# Per code object: does it belong to this package? (A dict look-up is cheaper than a
# string comparison, and op creation runs through about ten of our frames.)
_is_ours: dict[CodeType, bool] = {}


def capture(skip: int = 1) -> Stack:
    """The user's frames, innermost first; our own innermost frames are left out."""
    frame: FrameType | None = sys._getframe(skip)
    ours = _is_ours
    while frame is not None:
        code = frame.f_code
        known = ours.get(code)
        if known is None:
            known = ours[code] = code.co_filename.startswith(PACKAGE_DIR)
        if not known:
            break
        frame = frame.f_back
    stack = []
    depth = MAX_FRAMES
    while frame is not None and depth:
        stack.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
        depth -= 1
    return tuple(stack)


# Per code object: where instructions of other lines begin, and the lines. Long programs
# make many nodes in one code object.
_lines: dict[CodeType, tuple[list[int], list[int | None]]] = {}


def _line_number(code: CodeType, offset: int) -> int:
    table = _lines.get(code)
    if table is None:
        ranges = list(code.co_lines())
        table = _lines[code] = [r[0] for r in ranges], [r[2] for r in ranges]
    starts, lines = table
    line = lines[bisect_right(starts, offset) - 1] if starts else None
    return line if line is not None else code.co_firstlineno


def describe(stack: Stack) -> str | None:
    """`file.py:12` of the innermost user frame; None for an empty stack."""
    if not stack:
        return None
    code, offset = stack[0]
    return f"{code.co_filename}:{_line_number(code, offset)}"


def summary(stack: Stack) -> list[tuple[str, int, str, str | None]]:
    """(file, line number, function, line) for each frame, outermost first."""
    frames = []
    for code, offset in reversed(stack):
        number = _line_number(code, offset)
        text = linecache.getline(code.co_filename, number).strip() or None
        frames.append((code.co_filename, number, code.co_name, text))
    return frames
