"""Errors on the wire: gRPC's status codes have TensorFlow's numbers."""

from __future__ import annotations

from typing import Final

from tensorloom.framework import errors

# Longer messages do not fit where gRPC carries them.
_MAX_MESSAGE: Final = 3072
_TRUNCATED: Final = " ... [truncated]"

# What TensorFlow 1.15 puts before the message of an error that follows from another.
_DERIVED: Final = "[_Derived_]"


def to_wire(error: BaseException) -> tuple[int, str]:
    """(code, message) of an error; what is no OpError is an internal one."""
    if not isinstance(error, errors.OpError):
        return errors.INTERNAL, f"{type(error).__name__}: {error}"
    message = error.message
    if len(message) > _MAX_MESSAGE:
        message = message[:_MAX_MESSAGE] + _TRUNCATED
    code = error.error_code
    return errors.UNKNOWN if code is None else code, message


def from_wire(code: int, message: str) -> errors.OpError:
    """The error of a status; codes that nobody knows give UnknownError."""
    return errors.make_exception(None, None, message, code)


def derived(error: errors.OpError) -> errors.OpError:
    """The error as one that only follows from another, elsewhere in the step."""
    if is_derived(error):
        return error
    code, message = to_wire(error)
    return from_wire(code, _DERIVED + message)


def is_derived(error: BaseException) -> bool:
    """True for an error that follows from another task's."""
    return isinstance(error, errors.OpError) and error.message.startswith(_DERIVED)


def without_mark(error: errors.OpError) -> errors.OpError:
    """The error as a user sees it."""
    if not is_derived(error):
        return error
    code, message = to_wire(error)
    return from_wire(code, message.removeprefix(_DERIVED))
