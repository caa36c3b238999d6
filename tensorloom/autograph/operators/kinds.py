"""Which kind of thing of the graph a value is."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.lists.tensor_array import TensorArray


def is_dense_tensor(t: Any) -> bool:
    """A tensor or variable: `tf.cond` takes no sparse ones."""
    return is_tensor(t) and not isinstance(t, SparseTensor)


def is_tensor_array(t: Any) -> bool:
    """A TensorArray."""
    return isinstance(t, TensorArray)


def is_tensor_list(t: Any) -> bool:
    """A tensor list: the handle of one is a variant without dimensions."""
    return is_tensor(t) and t.dtype == dtypes.variant and not t.shape.ndims


def is_range_tensor(t: Any) -> bool:
    """What `tf.range` gave."""
    return is_tensor(t) and getattr(getattr(t, "op", None), "type", "") == "Range"
