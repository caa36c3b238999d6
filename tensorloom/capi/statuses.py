"""What a raised exception is as a status."""

from __future__ import annotations

from typing import Final

from tensorloom.framework import errors

# The first that fits counts.
_CODES: Final[tuple[tuple[type[BaseException], int], ...]] = (
    (NotImplementedError, errors.UNIMPLEMENTED),
    (KeyError, errors.NOT_FOUND),
    (LookupError, errors.NOT_FOUND),
    (FileNotFoundError, errors.NOT_FOUND),
    (PermissionError, errors.PERMISSION_DENIED),
    (MemoryError, errors.RESOURCE_EXHAUSTED),
    (ValueError, errors.INVALID_ARGUMENT),
    (TypeError, errors.INVALID_ARGUMENT),
    (OverflowError, errors.INVALID_ARGUMENT),
    (KeyboardInterrupt, errors.CANCELLED),
    (OSError, errors.UNKNOWN),
    (RuntimeError, errors.FAILED_PRECONDITION),
)


def of(error: BaseException) -> tuple[int, str]:
    """The status code of an exception, and its message."""
    if isinstance(error, errors.OpError):
        return error.error_code or errors.UNKNOWN, _text(error.message)
    message = error.args[0] if isinstance(error, KeyError) and error.args else error
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code, _text(str(message) or type(error).__name__)
    return errors.INTERNAL, _text(f"{type(error).__name__}: {error}")


def _text(message: str) -> str:
    """A message that C can hold: it ends at the first zero."""
    return message.encode("utf-8", "replace").decode().replace("\0", "\\0")
