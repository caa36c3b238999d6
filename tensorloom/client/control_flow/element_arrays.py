"""Tensors taken apart along their first dimension, for the loops that go over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.lists.tensor_array import TensorArray

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


def to_tensors(structure: Any) -> list[Tensor]:
    """The leaves of a structure (or a single value) as tensors."""
    return [convert_to_tensor(leaf, name="elem") for leaf in nest.flatten(structure)]


def pack(structure: Any, leaves: Sequence[Any]) -> Any:
    """The leaves in the form of a structure, or the one leaf of a single value."""
    if nest.is_nested(structure):
        return nest.pack_sequence_as(structure, list(leaves))
    return leaves[0]


def count_of(tensor: Tensor) -> Any:
    """The size of the first dimension: an int where it is known, else a tensor.

    Raises:
      IndexError: the tensor is a scalar.
    """
    dims = tensor.shape.dims_tuple
    known = None if dims is None else dims[0]
    return known or array_ops.shape(tensor)[0]


def unstack_all(
    tensors: Sequence[Tensor], count: Any, *, knows_shapes: bool = False
) -> list[TensorArray]:
    """A TensorArray of the elements of each tensor.

    Args:
      knows_shapes: the arrays are told the shape of their elements.
    """
    arrays = [
        TensorArray(
            dtype=tensor.dtype,
            size=count,
            dynamic_size=False,
            infer_shape=True,
            element_shape=tensor.shape[1:] if knows_shapes else None,
        )
        for tensor in tensors
    ]
    return [a.unstack(tensor) for a, tensor in zip(arrays, tensors, strict=True)]


def set_first_dimension(results: Sequence[Tensor], tensors: Sequence[Tensor]) -> None:
    """States that results have as many elements as the tensors, which must agree."""
    first = tensors[0].shape.with_rank_at_least(1)[0]
    for tensor in tensors[1:]:
        first.merge_with(tensor.shape.with_rank_at_least(1)[0])
    for result in results:
        result.set_shape(TensorShape([first]).concatenate(result.shape[1:]))
