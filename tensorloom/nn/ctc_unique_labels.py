"""The distinct labels of each sequence."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.map_fn import map_fn
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.shape import axis_size
from tensorloom.ops.math import math_ops


@export("nn.ctc_unique_labels")
def ctc_unique_labels(labels: Any, name: str | None = None) -> Any:
    """(distinct labels, index of each label among them), both of the labels' shape.

    Args:
      labels: int [batch, length].
    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")

        def unique(row: Tensor) -> list[Tensor]:
            distinct, index = array_ops.unique(row)
            missing = axis_size(index, 0) - axis_size(distinct, 0)
            padded = array_ops.pad(distinct, [[0, missing]])
            return [math_ops.cast(padded, dtypes.int64), index]

        return map_fn(unique, labels, dtype=[dtypes.int64, dtypes.int32])
