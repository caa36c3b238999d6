"""Diagonals with alignment, over NumPy values.

The second versions of these ops align short diagonals to the left; here each row of
packed diagonals is rolled to where its alignment wants it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.linalg.matrix_diag import (
    check_diag_band,
    diag_band,
    diag_matrix,
    diag_matrix_shape,
    diag_part,
    with_diagonal,
)


def _offsets(align: bytes, shape: Sequence[int], lower: int, upper: int) -> Any:
    """How far each diagonal is moved to the right, highest diagonal first."""
    rows, columns = shape[-2:]
    above, below = align.split(b"_")
    numbers = np.arange(upper, lower - 1, -1)
    longest = min(rows + min(upper, 0), columns - max(lower, 0))
    lengths = np.minimum(
        rows + np.minimum(numbers, 0), columns - np.maximum(numbers, 0)
    )
    to_right = np.where(numbers >= 0, above == b"RIGHT", below == b"RIGHT")
    return np.where(to_right, longest - lengths, 0)


def _rolled(packed: Any, offsets: Any, sign: int) -> Any:
    """Rolls the rows of [..., diagonals, length]; a single diagonal stays."""
    if len(offsets) == 1 or not packed.size:
        return packed
    length = packed.shape[-1]
    index = (np.arange(length) - sign * offsets[:, None]) % length
    return np.take_along_axis(packed, np.broadcast_to(index, packed.shape), axis=-1)


@host_kernel("MatrixDiagPartV3", large=True)
def _matrix_diag_part(c: OpKernelConstruction) -> Compute:
    align = c["align"]

    def compute(value: Any, k: Any, padding: Any) -> Any:
        part = diag_part(value, k, padding)
        offsets = _offsets(align, value.shape, *diag_band(k))
        return _rolled(part, offsets, 1)

    return compute


@host_kernel("MatrixDiagV3", large=True)
def _matrix_diag(c: OpKernelConstruction) -> Compute:
    align, dtype, device = c["align"], c["T"], c.device

    def compute(diagonal: Any, k: Any, rows: Any, columns: Any, padding: Any) -> Any:
        lower, upper = diag_band(k)
        _, sides = diag_matrix_shape(diagonal.shape, lower, upper, rows, columns)
        packed = _rolled(diagonal, _offsets(align, sides, lower, upper), -1)
        return diag_matrix(packed, k, rows, columns, padding, dtype, device)

    return compute


@host_kernel("MatrixSetDiagV3", large=True)
def _matrix_set_diag(c: OpKernelConstruction) -> Compute:
    align = c["align"]

    def compute(value: Any, diagonal: Any, k: Any) -> Any:
        lower, upper = diag_band(k)
        check_diag_band(value.shape, lower, upper)
        offsets = _offsets(align, value.shape, lower, upper)
        if diagonal.ndim >= 2 and diagonal.shape[-2] == len(offsets):
            diagonal = _rolled(diagonal, offsets, -1)
        return with_diagonal(value, diagonal, k)

    return compute
