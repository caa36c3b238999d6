"""Errors of converted code, told in the lines of the program."""

from __future__ import annotations

import linecache
import os
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, TracebackType
from typing import Any, Final

from tensorloom.framework.errors import OperatorNotAllowedInGraphError, OpError


class AutoGraphError(Exception):
    """What AutoGraph raises itself."""


class ConversionError(AutoGraphError):
    """A function could not be converted."""


class StagingError(AutoGraphError):
    """Converted code raised an error of a class whose message cannot be replaced."""


# The code of converted functions, with the name of the function in the program.
CONVERTED_CODE: Final[weakref.WeakKeyDictionary[CodeType, str]] = (
    weakref.WeakKeyDictionary()
)

# Their only argument is a message.
_MADE_OF_A_MESSAGE: Final = frozenset(
    [
        AssertionError,
        AttributeError,
        NameError,
        NotImplementedError,
        RuntimeError,
        StopIteration,
        TypeError,
        ValueError,
        AutoGraphError,
        ConversionError,
        StagingError,
        OperatorNotAllowedInGraphError,
    ]
)


class _MultilineKeyError(KeyError):
    """A KeyError whose message keeps its lines."""

    def __init__(self, message: str, key: str) -> None:
        super().__init__(key)
        self._message = message

    def __str__(self) -> str:
        return self._message


_MultilineKeyError.__name__ = _MultilineKeyError.__qualname__ = KeyError.__name__
_MultilineKeyError.__module__ = KeyError.__module__


@dataclass(frozen=True)
class FrameInfo:
    """One line of a traceback."""

    filename: str
    lineno: int
    function_name: str
    code: str
    converted: bool

    @classmethod
    def of(cls, traceback: TracebackType) -> FrameInfo:
        """The frame that a traceback stands at."""
        code = traceback.tb_frame.f_code
        origin = CONVERTED_CODE.get(code)
        line = linecache.getline(code.co_filename, traceback.tb_lineno).strip()
        return cls(
            code.co_filename,
            traceback.tb_lineno,
            origin or code.co_name,
            line or "<source unavailable>",
            origin is not None,
        )


@dataclass(frozen=True)
class ErrorMetadata:
    """The frames that an error came through, innermost first, and what it said."""

    translated_stack: tuple[FrameInfo, ...]
    cause_message: str

    def get_message(self) -> str:
        """The error with the lines of the program that led to it."""
        common = _common_folder([frame.filename for frame in self.translated_stack])
        lines = ["in converted code:"]
        if common:
            lines.append(f"    relative to {common}:")
        lines.append("")
        for frame in reversed(self.translated_stack):
            path = frame.filename[len(common) + 1 if common else 0 :]
            mark = "  *" if frame.converted else ""
            lines.append(f"    {path}:{frame.lineno} {frame.function_name}{mark}")
            lines.append(f"        {frame.code}")
        lines.append("")
        lines += [f"    {line}" for line in self.cause_message.split("\n")]
        return "\n".join([*lines, ""])

    def to_exception(self, source: BaseException) -> BaseException:
        """An error of the same class, or a StagingError, with `get_message`."""
        made = self._of_same_class(source) or StagingError(self.get_message())
        made.__suppress_context__ = True
        made.ag_error_metadata = self  # type: ignore[attr-defined]
        return made

    def _of_same_class(self, source: BaseException) -> BaseException | None:
        message, kind = self.get_message(), type(source)
        if isinstance(source, OpError):
            made = type(source).__new__(type(source))
            OpError.__init__(
                made, source.node_def, source.op, message, source.error_code
            )
            return made
        if kind in _MADE_OF_A_MESSAGE or kind.__init__ is Exception.__init__:
            return kind(message)
        if kind is KeyError:
            return _MultilineKeyError(message, self.cause_message)
        return None


def attach_metadata(error: BaseException, code: CodeType | None) -> None:
    """Notes on an error which lines of the program it has come through so far.

    Args:
      code: of the converted function that is called, or None for another function.
    """
    if hasattr(error, "ag_pass_through"):
        return
    frames = tuple(_frames(error.__traceback__, code))
    before: ErrorMetadata | None = getattr(error, "ag_error_metadata", None)
    if before is None:
        made = ErrorMetadata(frames, f"{type(error).__name__}: {error}")
    else:
        stack = (*before.translated_stack, *frames[-1:])
        made = ErrorMetadata(stack, before.cause_message)
    error.ag_error_metadata = made  # type: ignore[attr-defined]


def _frames(
    traceback: TracebackType | None, code: CodeType | None
) -> Iterator[FrameInfo]:
    """From the innermost frame to that of the converted function, or to the last."""
    found: list[TracebackType] = []
    while traceback is not None:
        found.append(traceback)
        traceback = traceback.tb_next
    # The first is the call itself.
    for inner in reversed(found[1:]):
        yield FrameInfo.of(inner)
        if code is not None and _belongs_to(inner.tb_frame.f_code, code):
            return


def _belongs_to(inner: CodeType, code: CodeType) -> bool:
    return inner is code or any(
        _belongs_to(inner, part)
        for part in code.co_consts
        if isinstance(part, CodeType)
    )


def _common_folder(paths: list[str]) -> str:
    """Where several files are; empty if it is no use to say so."""
    try:
        common = os.path.commonpath(map(os.path.dirname, paths))
    except ValueError:  # some are no files: "<stdin>"
        return ""
    return "" if len(paths) == 1 or common == os.path.sep else common


def rewritten(error: Any) -> BaseException | None:
    """The error to raise in place of one that came through converted code."""
    metadata: ErrorMetadata | None = getattr(error, "ag_error_metadata", None)
    return None if metadata is None else metadata.to_exception(error)
