"""Host kernels on files."""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.math_ops_errors import invalid_argument, shape_text
from tensorloom.kernels.host.string_arrays import to_strings

_KINDS: dict[type, type[errors.OpError]] = {
    FileNotFoundError: errors.NotFoundError,
    PermissionError: errors.PermissionDeniedError,
    IsADirectoryError: errors.FailedPreconditionError,
    NotADirectoryError: errors.FailedPreconditionError,
}


def _failure(name: str, error: OSError) -> errors.OpError:
    kind: Any = _KINDS.get(type(error), errors.UnknownError)
    return kind(None, None, f"{name}; {error.strerror}")  # type: ignore[no-any-return]


def _scalar_name(value: Any) -> str:
    if value.ndim:
        raise invalid_argument(
            f"Input filename tensor must be scalar, but had shape: "
            f"{shape_text(value.shape)}"
        )
    return os.fsdecode(value.item())


@host_kernel("ReadFile", large=True)
def read_file(c: OpKernelConstruction) -> Compute:
    """The contents of a file."""

    def compute(filename: Any) -> Any:
        name = _scalar_name(filename)
        try:
            with open(name, "rb") as file:
                return to_strings([file.read()], ())
        except OSError as error:
            raise _failure(name, error) from None

    return compute


@host_kernel("WriteFile", large=True)
def write_file(c: OpKernelConstruction) -> Compute:
    """Writes a file."""

    def compute(filename: Any, contents: Any) -> None:
        name = _scalar_name(filename)
        if contents.ndim:
            raise invalid_argument(
                f"Contents tensor must be scalar, but had shape: "
                f"{shape_text(contents.shape)}"
            )
        try:
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            with open(name, "wb") as file:
                file.write(contents.item())
        except OSError as error:
            raise _failure(name, error) from None

    return compute


@host_kernel("MatchingFiles", large=True)
def matching_files(c: OpKernelConstruction) -> Compute:
    """The names that match."""

    def compute(pattern: Any) -> Any:
        patterns = np.reshape(pattern, -1).tolist()
        names = sorted(name for one in patterns for name in glob.glob(one))
        return to_strings(names, (len(names),))

    return compute
