"""Host kernels of vocabularies in files."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.storage.checkpoints import checkpoints
from tensorloom.storage.files import filesystem


def _words(name: str) -> list[bytes]:
    with filesystem.open_file(name) as file:
        return [line.rstrip(b"\n") for line in file]


@host_kernel("GenerateVocabRemapping", large=True)
def generate_vocab_remapping(c: OpKernelConstruction) -> Compute:
    """Old numbers of new words."""
    offset, count, old_size = (
        c["new_vocab_offset"],
        c["num_new_vocab"],
        c["old_vocab_size"],
    )

    def compute(new_file: Any, old_file: Any) -> tuple[Any, Any]:
        new = _words(new_file.item().decode())
        old = _words(old_file.item().decode())
        if len(new) < offset + count:
            raise invalid_argument(
                "lookup table size must be larger than last new vocab entry's line"
            )
        if old_size >= 0:
            old = old[:old_size]
        numbers: dict[bytes, int] = {}
        for number, word in enumerate(old):
            numbers.setdefault(word, number)
        chosen = new[offset : offset + count]
        remapping = np.array([numbers.get(word, -1) for word in chosen], np.int64)
        return remapping, np.int32((remapping >= 0).sum())

    return compute


@host_kernel("LoadAndRemapMatrix", large=True)
def load_and_remap_matrix(c: OpKernelConstruction) -> Compute:
    """A matrix of a checkpoint with its rows and columns in another order."""
    rows, columns = c["num_rows"], c["num_cols"]

    def compute(
        path: Any, name: Any, row_remapping: Any, col_remapping: Any, initial: Any
    ) -> Any:
        _check_remapping("row", row_remapping, rows)
        if len(col_remapping):
            _check_remapping("col", col_remapping, columns)
        else:
            col_remapping = np.arange(columns)
        old = checkpoints.read_tensor(path.item().decode(), name.item())
        if old.ndim != 2 or old.dtype != np.float32:
            raise invalid_argument(
                f"Old tensor must be a float matrix, got {old.dtype} of shape "
                f"{shape_text(old.shape)}"
            )
        if rows and row_remapping.max() >= len(old):
            raise errors.InternalError(  # so says TensorFlow's reader of slices
                None,
                None,
                f"Old row {row_remapping.max()} is not in the old tensor, which has "
                f"{len(old)}",
            )
        if columns and col_remapping.max() >= old.shape[1]:
            raise invalid_argument(
                f"Old column {col_remapping.max()} is not in the old tensor, which "
                f"has {old.shape[1]}"
            )
        result = np.empty((rows, columns), np.float32)
        there = np.ix_(row_remapping >= 0, col_remapping >= 0)
        result[there] = old[
            np.ix_(row_remapping[row_remapping >= 0], col_remapping[col_remapping >= 0])
        ]
        missing = np.ones((rows, columns), bool)
        missing[there] = False
        if missing.sum() != initial.size:
            raise invalid_argument(
                f"{int(missing.sum())} values are missing, but there are "
                f"{initial.size} initializing_values"
            )
        result[missing] = initial.reshape(-1)
        return result

    return compute


def _check_remapping(what: str, remapping: Any, size: int) -> None:
    if remapping.shape != (size,):
        raise invalid_argument(
            f"Size of {what}_remapping is {remapping.size} instead of {size}"
        )
    used = remapping[remapping >= 0]
    if len(np.unique(used)) != len(used):
        raise errors.UnimplementedError(
            None,
            None,
            f"Old ids may be mapped once only, but {what}_remapping repeats one",
        )
