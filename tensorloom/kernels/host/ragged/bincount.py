"""The host kernel of RaggedBincount."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.sparse.count import count_table, row_of_values


@host_kernel("RaggedBincount", large=True)
def ragged_bincount(c: OpKernelConstruction) -> Compute:
    """Counts in rows as a dense tensor."""

    def compute(splits: Any, values: Any, size: Any, weights: Any) -> Any:
        rows = row_of_values(splits, len(values))
        return count_table(c, rows, len(splits) - 1, values, size, weights)

    return compute
