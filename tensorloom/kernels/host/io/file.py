"""Host kernels on files of any file system."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.file_errors import as_file_errors


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
        with as_file_errors(name):
            return to_strings([filesystem.read_file(name)], ())

    return compute


@host_kernel("WriteFile", large=True)
def write_file(c: OpKernelConstruction) -> Compute:
    """Writes a file, which appears whole, and the directories above it."""

    def compute(filename: Any, contents: Any) -> None:
        name = _scalar_name(filename)
        if contents.ndim:
            raise invalid_argument(
                f"Contents tensor must be scalar, but had shape: "
                f"{shape_text(contents.shape)}"
            )
        directory = filesystem.parent(name)
        if directory:
            filesystem.make_directories(directory)
        filesystem.write_file(name, contents.item())

    return compute


@host_kernel("MatchingFiles", large=True)
def matching_files(c: OpKernelConstruction) -> Compute:
    """The names that match."""

    def compute(pattern: Any) -> Any:
        if np.ndim(pattern) > 1:
            raise invalid_argument(
                "Input patterns tensor must be scalar or vector, but had shape: "
                f"{shape_text(np.shape(pattern))}"
            )
        patterns = [os.fsdecode(x) for x in np.reshape(pattern, -1).tolist()]
        names = sorted(name for one in patterns for name in filesystem.glob(one))
        return to_strings([os.fsencode(name) for name in names], (len(names),))

    return compute
