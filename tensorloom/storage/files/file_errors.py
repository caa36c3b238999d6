"""System and store errors as TensorFlow's error classes."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Any

from tensorloom.framework import errors

_BY_ERRNO: dict[str, type[errors.OpError]] = {
    "EINVAL ENAMETOOLONG E2BIG EFAULT EILSEQ ESPIPE ELOOP": (
        errors.InvalidArgumentError
    ),
    "ETIMEDOUT ETIME": errors.DeadlineExceededError,
    "ENOENT ENODEV ENXIO": errors.NotFoundError,
    "EEXIST EALREADY": errors.AlreadyExistsError,
    "EPERM EACCES EROFS": errors.PermissionDeniedError,
    "ENOTEMPTY EISDIR ENOTDIR EBADF EBUSY EPIPE ETXTBSY": (
        errors.FailedPreconditionError
    ),
    "ENOSPC EDQUOT EMFILE EMLINK ENFILE ENOBUFS ENOMEM": errors.ResourceExhaustedError,
    "EFBIG EOVERFLOW ERANGE": errors.OutOfRangeError,
    "ENOSYS ENOTSUP EOPNOTSUPP EXDEV": errors.UnimplementedError,
    "EAGAIN ECONNREFUSED ECONNABORTED ECONNRESET EINTR EHOSTDOWN EHOSTUNREACH "
    "ENETDOWN ENETRESET ENETUNREACH ENOLCK": errors.UnavailableError,
    "EDEADLK ESTALE": errors.AbortedError,
    "ECANCELED": errors.CancelledError,
}
_CLASSES: dict[int, type[errors.OpError]] = {
    getattr(errno, name): kind
    for names, kind in _BY_ERRNO.items()
    for name in names.split()
    if hasattr(errno, name)
}
# Stores raise these without a number.
_BY_TYPE: dict[type[BaseException], tuple[type[errors.OpError], int]] = {
    FileNotFoundError: (errors.NotFoundError, errno.ENOENT),
    FileExistsError: (errors.AlreadyExistsError, errno.EEXIST),
    PermissionError: (errors.PermissionDeniedError, errno.EACCES),
    IsADirectoryError: (errors.FailedPreconditionError, errno.EISDIR),
    NotADirectoryError: (errors.FailedPreconditionError, errno.ENOTDIR),
    TimeoutError: (errors.DeadlineExceededError, errno.ETIMEDOUT),
    ConnectionError: (errors.UnavailableError, errno.ECONNRESET),
}


def file_error(path: str, error: BaseException) -> errors.OpError:
    """What TensorFlow raises for a failed system call on a path."""
    if isinstance(error, errors.OpError):
        return error
    number = getattr(error, "errno", None)
    kind: Any = _CLASSES.get(number) if isinstance(number, int) else None
    text = os.strerror(number) if kind is not None and number else str(error)
    if kind is None:
        kind = errors.UnknownError
        for base, (candidate, code) in _BY_TYPE.items():
            if isinstance(error, base):
                kind, text = candidate, os.strerror(code)
                break
    return kind(None, None, f"{path}; {text}")  # type: ignore[no-any-return]


@contextlib.contextmanager
def as_file_errors(path: str) -> Iterator[None]:
    """Raises TensorFlow's errors for the OSErrors of its block."""
    try:
        yield
    except OSError as error:
        raise file_error(path, error) from None


def data_loss(path: str, offset: int | None, text: str) -> errors.DataLossError:
    """Damage in a file: what is wrong, in which file, where."""
    where = path if offset is None else f"{path}, offset {offset}"
    return errors.DataLossError(None, None, f"{text} ({where})")
