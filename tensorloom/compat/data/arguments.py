"""Arguments of pipelines as tensors, and the nodes that pipelines are made of."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from tensorloom.data import transformations
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import as_shape

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


def optional_param_to_tensor(
    argument_name: str,
    argument_value: Any,
    argument_default: Any = 0,
    argument_dtype: Any = dtypes.int64,
) -> Tensor:
    """An argument, or its default where it is None, as a tensor of that name."""
    value = argument_default if argument_value is None else argument_value
    return transformations.tensor(value, argument_dtype, argument_name)


def partial_shape_to_tensor(shape_like: Any) -> Tensor:
    """A shape as an int64 vector, -1 where a size is not known.

    Raises:
      ValueError: it is a tensor of another rank.
      TypeError: it is a tensor of another dtype.
    """
    try:
        sizes = as_shape(shape_like).as_list()
    except (TypeError, ValueError):
        tensor = convert_to_tensor(shape_like, preferred_dtype=dtypes.int64)
    else:
        filled = [-1 if size is None else size for size in sizes]
        return convert_to_tensor(filled, dtype=dtypes.int64)
    wanted = f"The given shape {shape_like} must be a 1-D tensor of tf.int64 values"
    if tensor.shape.ndims not in (None, 1):
        raise ValueError(f"{wanted}, but the shape was {tensor.shape}.")
    if tensor.dtype != dtypes.int64:
        raise TypeError(f"{wanted}, but the element type was {tensor.dtype.name}.")
    return tensor


def obtain_all_variant_tensor_ops(dataset: Any) -> list[Operation]:
    """The operations whose first output is a variant, from a dataset backwards."""
    first: Operation = dataset._variant_tensor.op
    seen, waiting, found = {first}, deque([first]), []
    while waiting:
        op = waiting.popleft()
        if op.outputs[0].dtype == dtypes.variant:
            found.append(op)
        for tensor in op.inputs:
            if tensor.op not in seen:
                seen.add(tensor.op)
                waiting.append(tensor.op)
    return found
