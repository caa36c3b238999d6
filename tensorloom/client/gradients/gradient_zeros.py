"""Which tensors have gradients, and the zeros of those that the ys do not depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.client.gradients.gradient_graph import GradientGraph
from tensorloom.client.variables.resource_handles import is_of_variable
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array.constant import constant

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor

_TRAINABLE: Final = frozenset(
    [
        dtypes.float16.name,
        dtypes.float32.name,
        dtypes.float64.name,
        dtypes.complex64.name,
        dtypes.complex128.name,
        dtypes.resource.name,
        dtypes.variant.name,
    ]
)
# bfloat16 lets gradients through, but an output of it that gets none stays without.
BACKPROPAGATABLE: Final = _TRAINABLE | {dtypes.bfloat16.name}


def is_trainable(tensor: Tensor) -> bool:
    """True when gradients with respect to a tensor of this dtype make sense."""
    return tensor._dtype.base_dtype.name in _TRAINABLE


def takes_gradient(tensor: Tensor) -> bool:
    """`is_trainable`, but for lists of integers or of handles, which are variants."""
    if tensor._dtype == dtypes.variant and tensor._handle_data is not None:
        return tensor._handle_data.dtype.base_dtype.name in _TRAINABLE
    return is_trainable(tensor)


def takes_number_zeros(tensor: Tensor) -> bool:
    """`is_trainable`, but for handles and variants."""
    kinds = (dtypes.resource, dtypes.variant)
    return is_trainable(tensor) and tensor.dtype not in kinds


def takes_zeros(output: Tensor) -> bool:
    """Handles of other resources than variables have no gradient, not even zeros."""
    if output._dtype == dtypes.resource:
        return is_of_variable(output)
    return takes_gradient(output)


def zeros_like(tensor: Tensor) -> Tensor:
    """The gradient of an output that the ys do not depend on.

    Of a handle it is that of the variable behind it.
    """
    if tensor._dtype == dtypes.resource:
        return zeros_of_variable(tensor)
    graph = get_default_graph()
    if isinstance(graph, GradientGraph) and graph.keeps(tensor):
        return _zeros_in_loop(tensor)
    zeros: Tensor = apply_op("ZerosLike", x=tensor, name="zeros_like")
    return zeros


def zeros_of_variable(handle: Tensor) -> Tensor:
    """Zeros of the shape and dtype of the variable behind a handle."""
    data = handle._handle_data
    zeros: Tensor = fill_ops.zeros(
        apply_op("VariableShape", input=handle),
        dtype=data.dtype if data is not None else dtypes.float32,
    )
    return zeros


def _zeros_in_loop(tensor: Tensor) -> Tensor:
    """Zeros that need the shape of the tensor alone: no loop keeps its values."""
    if tensor.shape.is_fully_defined():
        return constant(0, tensor.dtype, shape=tensor.shape.as_list())
    shape = shape_ops.shape_internal(tensor, optimize=False)
    zeros: Tensor = fill_ops.zeros(shape, tensor.dtype)
    return zeros
