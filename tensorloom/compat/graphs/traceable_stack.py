"""`tensorflow.python.framework.traceable_stack`: things and where they come from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final


class TraceableObject:
    """A thing, and the file and line of the program that it comes from."""

    SUCCESS: Final = 0
    HEURISTIC_USED: Final = 1
    FAILURE: Final = 2

    def __init__(
        self, obj: Any, filename: str | None = None, lineno: int | None = None
    ) -> None:
        self.obj = obj
        self.filename = filename
        self.lineno = lineno

    def set_filename_and_line_from_caller(self, offset: int = 0) -> int:
        """Takes the place that a caller stands at.

        Args:
          offset: 0 is the caller of this method, 1 the caller of that one, and so on.

        Returns:
          SUCCESS, or HEURISTIC_USED if there are not as many callers: then it is the
          place of the outermost.
        """
        frame = sys._getframe(1)
        for _ in range(offset):
            if frame.f_back is None:
                break
            frame = frame.f_back
            offset -= 1
        self.filename, self.lineno = frame.f_code.co_filename, frame.f_lineno
        return self.HEURISTIC_USED if offset else self.SUCCESS

    def copy_metadata(self) -> TraceableObject:
        """The place alone."""
        return type(self)(None, self.filename, self.lineno)


class TraceableStack:
    """A stack of `TraceableObject`s."""

    def __init__(self, existing_stack: list[TraceableObject] | None = None) -> None:
        self._stack = list(existing_stack or ())

    def push_obj(self, obj: Any, offset: int = 0) -> int:
        """Puts a thing on top, with the place of a caller.

        `offset` and the result are those of `set_filename_and_line_from_caller`.
        """
        made = TraceableObject(obj)
        self._stack.append(made)
        return made.set_filename_and_line_from_caller(offset + 1)

    def pop_obj(self) -> Any:
        """Takes the thing on top away."""
        return self._stack.pop().obj

    def peek_top_obj(self) -> Any:
        """The thing on top."""
        return self._stack[-1].obj

    def peek_objs(self) -> Iterator[Any]:
        """The things, the newest first."""
        return (made.obj for made in reversed(self._stack))

    def peek_traceable_objs(self) -> Iterator[TraceableObject]:
        """The things with their places, the newest first."""
        return reversed(self._stack)

    def __len__(self) -> int:
        return len(self._stack)

    def copy(self) -> TraceableStack:
        """Another stack of the same objects."""
        return TraceableStack(self._stack)
