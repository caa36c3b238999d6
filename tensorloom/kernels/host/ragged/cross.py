"""The host kernel of RaggedCross."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.sparse.cross import (
    FeatureColumn,
    cross_values,
    feature_columns,
    hashed_values,
    joined_values,
    value_groups,
)


def _of_ragged(values: Any, splits: Any) -> FeatureColumn:
    counts = np.diff(splits)
    if not len(splits) or splits[0] or splits[-1] != len(values) or (counts < 0).any():
        raise invalid_argument("Invalid row_splits of a ragged feature")
    return FeatureColumn(values, splits[:-1], counts)


@host_kernel("RaggedCross", large=True)
def ragged_cross(c: OpKernelConstruction) -> Compute:
    """Crosses of ragged, sparse and dense features, as a ragged matrix."""
    ragged, sparse = len(c["ragged_values_types"]), c["Nsparse"]
    order = c["input_order"].decode()
    counted = {"R": ragged, "S": sparse, "D": len(c["dense_types"])}
    if len(order) != sum(counted.values()):
        raise invalid_argument("Invalid length for input_order")
    if any(order.count(kind) != n for kind, n in counted.items()):
        raise invalid_argument(
            f"input_order '{order}' must name {ragged} R, {sparse} S and "
            f"{counted['D']} D"
        )
    hashed, device = c["hashed_output"], c.device
    splits_type = c["out_row_splits_type"].np_dtype
    join = (
        hashed_values(c["hash_key"], c["num_buckets"])
        if hashed
        else joined_values(b"_X_")
    )

    def compute(*inputs: Any) -> tuple[Any, Any]:
        values, splits = inputs[:ragged], inputs[ragged : 2 * ragged]
        rest = value_groups(inputs[2 * ragged :], sparse)
        batch, others = feature_columns(rest)
        waiting = {
            "R": [_of_ragged(v, s) for v, s in zip(values, splits, strict=True)],
            "S": others[:sparse],
            "D": others[sparse:],
        }
        if not others and ragged:
            batch = len(splits[0]) - 1
        columns = [waiting[kind].pop(0) for kind in order]
        if any(len(column.counts) != batch for column in columns):
            raise invalid_argument(
                "inputs must all have the same batch dimension size."
            )
        found, counts = cross_values(batch, columns, join, device)
        result = np.zeros(batch + 1, splits_type)
        np.cumsum(counts, out=result[1:])
        return found, result

    return compute
