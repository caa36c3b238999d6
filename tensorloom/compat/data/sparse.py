"""Sparse tensors in elements as the variants that pipelines carry."""

from __future__ import annotations

from typing import Any

from tensorloom.compat.op_modules.newer_functions import deserialize_sparse
from tensorloom.data import nest
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor, is_sparse
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.sparse import serialization


def any_sparse(classes: Any) -> bool:
    """Whether one of the components is a sparse tensor."""
    return any(kind is SparseTensor for kind in nest.flatten(classes))


def as_dense_shapes(shapes: Any, classes: Any) -> Any:
    """The shapes of components, of unknown rank where they are sparse tensors."""
    return _where_sparse(shapes, classes, TensorShape.of(None))


def as_dense_types(types: Any, classes: Any) -> Any:
    """The dtypes of components, variant where they are sparse tensors."""
    return _where_sparse(types, classes, dtypes.variant)


def _where_sparse(values: Any, classes: Any, instead: Any) -> Any:
    pairs = zip(nest.flatten(values), nest.flatten(classes), strict=True)
    chosen = [instead if kind is SparseTensor else value for value, kind in pairs]
    return nest.pack_sequence_as(values, chosen)


def get_classes(tensors: Any) -> Any:
    """`tf.SparseTensor` or `tf.Tensor` for each component."""
    return nest.map_structure(
        lambda value: SparseTensor if isinstance(value, SparseTensor) else Tensor,
        tensors,
    )


def serialize_sparse_tensors(tensors: Any) -> Any:
    """The components, sparse tensors as variants [3]."""
    return nest.map_structure(
        lambda value: (
            serialization.serialize_sparse(value, out_type=dtypes.variant)
            if isinstance(value, SparseTensor)
            else value
        ),
        tensors,
    )


def serialize_many_sparse_tensors(tensors: Any) -> Any:
    """The components, sparse tensors [n, ...] as variants [n, 3]."""
    return nest.map_structure(
        lambda value: (
            serialization.serialize_many_sparse(value, out_type=dtypes.variant)
            if is_sparse(value)
            else value
        ),
        tensors,
    )


def deserialize_sparse_tensors(
    tensors: Any, types: Any, shapes: Any, classes: Any
) -> Any:
    """The components whose sparse tensors `serialize_sparse_tensors` serialized.

    Args:
      types, shapes, classes: of the components as they were.
    """
    parts = [nest.flatten(each) for each in (tensors, types, shapes, classes)]
    values = [
        deserialize_sparse(tensor, dtype=dtype, rank=shape.ndims)
        if kind is SparseTensor
        else tensor
        for tensor, dtype, shape, kind in zip(*parts, strict=True)
    ]
    return nest.pack_sequence_as(types, values)
