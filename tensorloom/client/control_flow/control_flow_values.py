"""What goes into and comes out of branches and loop bodies, as tensors.

The user's values may be nested structures of tensors, IndexedSlices, SparseTensors and
TensorArrays; a TensorArray travels as its flow, and one that a branch makes as its flow
and its handle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.types import nest
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.lists.tensor_array import (
    TensorArray,
    build_ta_with_new_flow,
    one_of,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


def is_tensor_array(value: Any) -> bool:
    """True for a TensorArray."""
    return isinstance(value, TensorArray)


def to_tensor(value: Any) -> Any:
    """A leaf as a tensor, or as the composite tensor that it is."""
    if is_tensor_array(value):
        return value.flow
    if isinstance(value, CompositeTensor):
        return value
    return convert_to_tensor(value)


def flatten(structure: Any) -> list[Any]:
    """The tensors of a structure; flows stand for TensorArrays."""
    return [
        leaf.flow if is_tensor_array(leaf) else leaf
        for leaf in nest.flatten(structure, expand_composites=True)
    ]


def pack_branches(
    results: Sequence[Any], outputs: Sequence[Tensor], chosen: Sequence[int]
) -> Any:
    """What branches gave, in the form in which they gave it.

    Args:
      results: the structures that the branches returned.
      outputs: their tensors, and then the handles of the chosen TensorArrays.
      chosen: which leaves of the structures are those TensorArrays.
    """
    flat = [nest.flatten(result, expand_composites=True) for result in results]
    count = len(flat[0])
    handles = dict(zip(chosen, outputs[count:], strict=True))
    leaves = [
        one_of([leaves[index] for leaves in flat], handles[index], tensor)
        if index in handles
        else _packed(flat[0][index], tensor)
        for index, tensor in enumerate(outputs[:count])
    ]
    return nest.pack_sequence_as(results[0], leaves, expand_composites=True)


def pack(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """The tensors in the form of `structure`, flows as TensorArrays again."""
    leaves = [
        _packed(leaf, tensor)
        for leaf, tensor in zip(
            nest.flatten(structure, expand_composites=True), tensors, strict=True
        )
    ]
    return nest.pack_sequence_as(structure, leaves, expand_composites=True)


def _packed(leaf: Any, tensor: Tensor) -> Any:
    return build_ta_with_new_flow(leaf, tensor) if is_tensor_array(leaf) else tensor
