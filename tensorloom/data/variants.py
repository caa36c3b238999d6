"""From elements to the tensors that sources take."""

from __future__ import annotations

from typing import Any

from tensorloom.data import nest, specs
from tensorloom.data.type_spec import TypeSpec
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types.dimension import Dimension
from tensorloom.framework.types.sparse_tensor import SparseTensor, is_sparse
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.ragged.ragged_tensor import convert_to_tensor_or_ragged_tensor
from tensorloom.ops.ragged.ragged_value import RaggedTensorValue


def normalize_element(element: Any) -> Any:
    """An element whose components are tensors, sparse tensors or datasets."""
    with name_scope("normalize_element"):
        values = [
            _normalized(value, f"component_{index}")
            for index, value in enumerate(nest.flatten(element))
        ]
    return nest.pack_sequence_as(element, values)


def _normalized(value: Any, name: str) -> Any:
    if is_sparse(value):
        return SparseTensor.from_value(value)
    if isinstance(value, RaggedTensorValue):
        return convert_to_tensor_or_ragged_tensor(value, name=name)
    if isinstance(getattr(value, "_type_spec", None), TypeSpec):
        return value
    if isinstance(value, Tensor) or specs.is_registered(value):
        return value
    return convert_to_tensor(value, name=name)


def batched_tensors(structure: Any, element: Any) -> list[Tensor]:
    """The tensors whose slices along dimension 0 are elements.

    Raises:
      ValueError: their sizes differ, or one is a scalar.
    """
    found: list[Tensor] = []
    for spec, value in zip(
        nest.flatten(structure), nest.flatten_up_to(structure, element), strict=True
    ):
        found += spec.to_batched_tensors(value)
    size = Dimension(found[0].shape[0])
    for tensor in found[1:]:
        size.assert_is_compatible_with(Dimension(tensor.shape[0]))
    return found
