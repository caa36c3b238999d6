"""The fraction of zeros in a tensor."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@export("math.zero_fraction", "nn.zero_fraction")
def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of elements that are zero, a float32 scalar."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        size = array_ops.size(value, out_type=dtypes.int64)
        # Counting in int32 is faster, and enough for all but huge tensors.
        nonzero = cond(
            size <= dtypes.int32.max,
            true_fn=lambda: math_ops.cast(
                _count_nonzero(value, dtypes.int32), dtype=dtypes.int64
            ),
            false_fn=lambda: _count_nonzero(value, dtypes.int64),
        )
        with name_scope("counts_to_fraction"):
            zeros = math_ops.cast(size - nonzero, dtype=dtypes.float32)
            fraction = zeros / math_ops.cast(size, dtype=dtypes.float32)
        return array_ops.identity(fraction, "fraction")


def _count_nonzero(value: Tensor, dtype: dtypes.DType) -> Tensor:
    with name_scope("count_nonzero", values=[value]):
        zero = array_ops.zeros([], dtype=value.dtype)
        return math_ops.reduce_sum(
            math_ops.cast(math_ops.not_equal(value, zero), dtype=dtype),
            name="nonzero_count",
        )
