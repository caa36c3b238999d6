"""`tf.meshgrid`: coordinate grids out of coordinate vectors."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array import stack as stack_ops


@export("meshgrid")
def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """A grid for each of several vectors, all of the shape of their product.

    Args:
      args: vectors (scalars count as vectors of one).
      indexing: "xy" (the first two axes exchanged, as pictures have them) or "ij".
      name: of the operations.

    Raises:
      TypeError: another keyword.
      ValueError: another `indexing`.
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        key = next(iter(kwargs))
        raise TypeError(f"'{key}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        output = [
            reshape_ops.reshape(
                stack_ops.stack(x), (1,) * i + (-1,) + (1,) * (count - i - 1)
            )
            for i, x in enumerate(args)
        ]
        sizes = [shape_ops.size(x) for x in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            rest = (1,) * (count - 2)
            output[0] = reshape_ops.reshape(output[0], (1, -1, *rest))
            output[1] = reshape_ops.reshape(output[1], (-1, 1, *rest))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        whole: Any = fill_ops.ones(sizes, dtype)
        return [x * whole for x in output]
