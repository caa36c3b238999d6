"""Classes of the program that layers take for tensors of a graph."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.ragged.ragged_tensor import RaggedTensor

_types: set[type] = set()


def register_symbolic_tensor_type(cls: type) -> None:
    """Objects of the class count as tensors; a conversion function has to be there."""
    _types.add(cls)


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether a value is a tensor of a graph, or one that is registered as such."""
    kinds = (Tensor, Variable, SparseTensor, IndexedSlices, RaggedTensor, *_types)
    return isinstance(tensor, kinds)
