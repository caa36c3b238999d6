"""What is known of a tensor before it is computed, as Grappler's message says it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tensorloom.protos.op_performance_data_pb2 import OpInfo

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


def tensor_properties(tensor: Tensor) -> Any:
    """An `OpInfo.TensorProperties`: dtype, shape, and the value of a constant."""
    proto: Any = OpInfo.TensorProperties()
    proto.dtype = tensor.dtype.as_datatype_enum
    if tensor.shape.rank is None:
        proto.shape.unknown_rank = True
    else:
        proto.shape.SetInParent()
        for dim in tensor.shape.as_list():
            proto.shape.dim.add().size = -1 if dim is None else dim
    if tensor.op.type == "Const":
        proto.value.CopyFrom(tensor.op.get_attr("value"))
    return proto


def element_count(tensor: Tensor) -> int:
    """How many elements it has; a dim that is not known counts as 1."""
    if tensor.shape.rank is None:
        return 1
    return math.prod(1 if dim is None else dim for dim in tensor.shape.as_list())


def is_known(tensor: Tensor) -> bool:
    """Whether its shape is fully known."""
    return tensor.shape.is_fully_defined()


def byte_count(tensor: Tensor) -> int:
    """How many bytes it takes; for strings and handles those of a reference to them."""
    return element_count(tensor) * tensor.dtype.base_dtype.size
